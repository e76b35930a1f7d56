//! The builder, which turns keys into a filter file.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use crate::{
    build_error::BuildError,
    built_filter::{Body, BuiltFilter},
    collector::KeyCollector,
    hash::KeyHash,
    kind::Kind,
    limits::MAX_INTEGER,
    shape::Shape,
    sizing::Sizing,
    version, wildcard,
};

/// Builds filter files.
///
/// # Example
///
/// ```
/// use hedgerow_paths::{PathFilter, PathFilterBuilder};
///
/// let file = PathFilterBuilder::new().version("1").build(["/", "/about", "/blog/*"])?;
/// let filter = PathFilter::parse(&file)?;
/// assert!(filter.has(b"/about"));
/// assert!(!filter.has(b"/abort"));
/// assert_eq!(filter.wildcards(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathFilterBuilder {
    shape: Shape,
    version: String,
}

impl PathFilterBuilder {
    /// Creates a builder of a [`Kind::Bloom`] filter with a false-positive rate of 1e-7, the seed 0,
    /// an empty version, and [`Sizing::Promised`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how the filter stores its keys. The rate, the sizing and the capacity have no effect on a
    /// [`Kind::Fuse`] filter. Default: [`Kind::Bloom`].
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.shape.kind = kind;
        self
    }

    /// Sets the share of absent paths that the filter may report as present, from
    /// [`MIN_FALSE_POSITIVE_RATE`](crate::MIN_FALSE_POSITIVE_RATE) to
    /// [`MAX_FALSE_POSITIVE_RATE`](crate::MAX_FALSE_POSITIVE_RATE). Default: 1e-7.
    #[must_use]
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.shape.rate = rate;
        self
    }

    /// Sets the seed of the hashes, at most [`MAX_INTEGER`]. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.shape.seed = seed;
        self
    }

    /// Sets the version, a string that readers of the file do not interpret. Default: empty.
    #[must_use]
    pub fn version(self, version: &str) -> Self {
        Self { version: version.to_owned(), ..self }
    }

    /// Sets how the number of bits is chosen. Default: [`Sizing::Promised`].
    #[must_use]
    pub fn sizing(mut self, sizing: Sizing) -> Self {
        self.shape.sizing = sizing;
        self
    }

    /// Sizes the filter for this number of keys instead of its own: a part of a larger filter, which
    /// [`PathFilterMerger`](crate::PathFilterMerger) assembles. Default: the number of keys.
    #[must_use]
    pub fn capacity(mut self, keys: u64) -> Self {
        self.shape.capacity = Some(keys);
        self
    }

    /// Builds the file of a filter of `keys`. Duplicates count once.
    ///
    /// # Errors
    ///
    /// Returns a [`BuildError`] if an option or the size of the filter is beyond its limit, or if
    /// more keys differ than the [`capacity`](Self::capacity) allows.
    ///
    /// # Complexity
    ///
    /// Linear in the total length of the keys. Takes memory for the filter and 16 bytes per key. If
    /// the keys may have duplicates, their hashes are sorted. A fuse filter takes memory for about
    /// 32 bytes per key.
    pub fn build<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<u8>, BuildError> {
        version::check(&self.version)?;
        let mut collected = self.collect()?;
        for key in keys {
            collected.insert(key.as_ref());
        }
        collected.build()?.file(&self.version)
    }

    /// Builds the file of a filter of `keys`, of which at most `count` differ.
    ///
    /// Since the number of keys is known in advance, a Bloom filter takes memory for the filter only.
    /// Its file states `count` as the number of keys, even if there are fewer. A fuse filter is built
    /// as by [`build`](Self::build).
    ///
    /// # Errors
    ///
    /// Returns [`BuildError::TooManyKeys`] if more than `count` keys certainly differ, or if `count`
    /// exceeds the [`capacity`](Self::capacity), and the errors of [`build`](Self::build).
    ///
    /// # Complexity
    ///
    /// Linear in the total length of the keys.
    pub fn build_counted<K: AsRef<[u8]>>(
        &self,
        count: u64,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<u8>, BuildError> {
        version::check(&self.version)?;
        self.shape.check()?;
        if count > MAX_INTEGER {
            return Err(BuildError::Bits { keys: count });
        }
        if self.shape.kind == Kind::Fuse {
            return self.build_fuse(count, keys);
        }
        let mut bits = self.shape.bit_array(count)?;
        let (mut new, mut wildcards) = (0, 0);
        for key in keys {
            let key = key.as_ref();
            wildcards = wildcards.max(wildcard::depth(key));
            new += u64::from(bits.insert(KeyHash::of(key, self.shape.seed)));
            if new > count {
                return Err(BuildError::TooManyKeys { expected: count });
            }
        }
        let built = BuiltFilter { n: count, shape: self.shape, wildcards, body: Body::Bloom(bits) };
        built.file(&self.version)
    }

    fn build_fuse<K: AsRef<[u8]>>(
        &self,
        count: u64,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<u8>, BuildError> {
        let mut collected = self.collect()?;
        for key in keys {
            collected.insert(key.as_ref());
        }
        let built = collected.build()?;
        if built.n() > count {
            return Err(BuildError::TooManyKeys { expected: count });
        }
        built.file(&self.version)
    }

    /// Starts a filter whose keys are added one by one. Does not use the version.
    ///
    /// # Errors
    ///
    /// Returns a [`BuildError`] if an option is beyond its limit.
    pub fn collect(&self) -> Result<KeyCollector, BuildError> {
        self.shape.check()?;
        Ok(KeyCollector::new(self.shape))
    }
}
