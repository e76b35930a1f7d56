//! From paths to the file of a filter.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use crate::{
    bit_array::BitArray,
    build_error::BuildError,
    built_filter::BuiltFilter,
    collector::KeyCollector,
    hash::KeyHash,
    limits::{MAX_FALSE_POSITIVE_RATE, MAX_HEADER_LENGTH, MAX_INTEGER, MIN_FALSE_POSITIVE_RATE},
    sizing::{self, Sizing},
    version, wildcard,
};

/// What the first line takes at most beside the version, in bytes, rounded up.
const REST_OF_HEADER_LENGTH: usize = 160;

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
#[derive(Clone, Debug, PartialEq)]
pub struct PathFilterBuilder {
    rate: f64,
    pub(crate) seed: u64,
    version: String,
    sizing: Sizing,
}

impl Default for PathFilterBuilder {
    fn default() -> Self {
        Self { rate: 1e-7, seed: 0, version: String::new(), sizing: Sizing::Promised }
    }
}

impl PathFilterBuilder {
    /// A rate of 1e-7, the seed 0, an empty version, and [`Sizing::Promised`].
    pub fn new() -> Self {
        Self::default()
    }

    /// How many of the paths that are not in the filter it may say to be present, as a share:
    /// from [`MIN_FALSE_POSITIVE_RATE`] to [`MAX_FALSE_POSITIVE_RATE`].
    #[must_use]
    pub fn false_positive_rate(self, rate: f64) -> Self {
        Self { rate, ..self }
    }

    /// The seed of the hashes, up to [`MAX_INTEGER`].
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// A text for whoever reads the file.
    #[must_use]
    pub fn version(self, version: &str) -> Self {
        Self { version: version.to_owned(), ..self }
    }

    /// How the number of bits is chosen.
    #[must_use]
    pub fn sizing(self, sizing: Sizing) -> Self {
        Self { sizing, ..self }
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
        let mut collected = self.collect()?;
        for key in keys {
            collected.insert(key.as_ref());
        }
        Ok(collected.build()?.file())
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
        self.check()?;
        let mut bits = self.bit_array(count)?;
        let (mut new, mut wildcards) = (0, 0);
        for key in keys {
            let key = key.as_ref();
            wildcards = wildcards.max(wildcard::depth(key));
            new += u64::from(bits.insert(KeyHash::of(key, self.seed)));
            if new > count {
                return Err(BuildError::TooManyKeys { expected: count });
            }
        }
        Ok(self.built(count, wildcards, bits).file())
    }

    /// Begins a filter whose keys come one by one.
    ///
    /// # Errors
    ///
    /// [`BuildError`] for options beyond a limit.
    pub fn collect(&self) -> Result<KeyCollector, BuildError> {
        self.check()?;
        Ok(KeyCollector::new(self.clone()))
    }

    fn check(&self) -> Result<(), BuildError> {
        if !(MIN_FALSE_POSITIVE_RATE..=MAX_FALSE_POSITIVE_RATE).contains(&self.rate) {
            return Err(BuildError::Rate { found: self.rate });
        }
        if self.seed > MAX_INTEGER {
            return Err(BuildError::Seed { found: self.seed });
        }
        let length = version::escaped(&self.version).len() + REST_OF_HEADER_LENGTH;
        if length > MAX_HEADER_LENGTH {
            return Err(BuildError::Version { found: length });
        }
        Ok(())
    }

    /// Bits for `count` different keys.
    pub(crate) fn bit_array(&self, count: u64) -> Result<BitArray, BuildError> {
        let m = self.sizing.bits(count, self.rate).filter(|&m| m > 0);
        let m = m.ok_or(BuildError::Bits { keys: count })?;
        Ok(BitArray::new(m, sizing::hashes(self.rate)))
    }

    pub(crate) fn built(&self, n: u64, wildcards: u32, bits: BitArray) -> BuiltFilter {
        let (p, s, version) = (self.rate, self.seed, self.version.clone());
        BuiltFilter { n, p, s, wildcards, version, bits }
    }
}
