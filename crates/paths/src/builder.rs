//! From paths to the file of a filter.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use crate::{
    build_error::BuildError, built_filter::BuiltFilter, collector::KeyCollector, hash::KeyHash,
    limits::MAX_INTEGER, shape::Shape, sizing::Sizing, version, wildcard,
};

/// Builds filters.
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
    /// A rate of 1e-7, the seed 0, an empty version, and [`Sizing::Promised`].
    pub fn new() -> Self {
        Self::default()
    }

    /// How many of the paths that are not in the filter it may say to be present, as a share:
    /// from [`MIN_FALSE_POSITIVE_RATE`](crate::MIN_FALSE_POSITIVE_RATE) to
    /// [`MAX_FALSE_POSITIVE_RATE`](crate::MAX_FALSE_POSITIVE_RATE).
    #[must_use]
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.shape.rate = rate;
        self
    }

    /// The seed of the hashes, up to [`MAX_INTEGER`].
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.shape.seed = seed;
        self
    }

    /// A text for whoever reads the file.
    #[must_use]
    pub fn version(self, version: &str) -> Self {
        Self { version: version.to_owned(), ..self }
    }

    /// How the number of bits is chosen.
    #[must_use]
    pub fn sizing(mut self, sizing: Sizing) -> Self {
        self.shape.sizing = sizing;
        self
    }

    /// Builds the file of a filter of `keys`, of which equal ones count once.
    ///
    /// # Complexity
    ///
    /// Linear in the bytes of the keys. Memory for the filter, and 16 bytes a key until all are
    /// there. Where equal keys may be among them, their hashes are sorted.
    ///
    /// # Errors
    ///
    /// [`BuildError`], for options or sizes beyond a limit.
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

    /// Builds the file of a filter of `keys`, of which no more than `count` differ.
    ///
    /// With the number known in advance nothing is kept of a key but its bits. It is what the file
    /// says, also if fewer come.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooManyKeys`] if more keys certainly differ, and as [`build`](Self::build).
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
        let built = BuiltFilter { n: count, shape: self.shape, wildcards, bits };
        built.file(&self.version)
    }

    /// Begins a filter whose keys come one by one. The version has no part in it.
    ///
    /// # Errors
    ///
    /// [`BuildError`] for options beyond a limit.
    pub fn collect(&self) -> Result<KeyCollector, BuildError> {
        self.shape.check()?;
        Ok(KeyCollector::new(self.shape))
    }
}
