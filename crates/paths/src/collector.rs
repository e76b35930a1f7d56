//! Keys that come one by one, and the filter of them when all have come.

use crate::{
    bit_array::BitArray, build_error::BuildError, built_filter::BuiltFilter, hash::KeyHash,
    hashes::Hashes, shape::Shape, wildcard,
};

/// Collects the keys of a filter, in 16 bytes each and at most a mebibyte more.
///
/// # Example
///
/// ```
/// use hedgerow_paths::PathFilterBuilder;
///
/// let mut keys = PathFilterBuilder::new().collect()?;
/// keys.insert(b"/about");
/// keys.insert(b"/about");
/// let built = keys.build()?;
/// assert_eq!((built.n(), built.k()), (1, 23));
/// assert!(built.file("1")?.starts_with(b"{\"version\":\"1\""));
/// # Ok::<(), hedgerow_paths::BuildError>(())
/// ```
pub struct KeyCollector {
    shape: Shape,
    hashes: Hashes,
    wildcards: u32,
}

impl KeyCollector {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, hashes: Hashes::default(), wildcards: 0 }
    }

    /// Adds a key.
    pub fn insert(&mut self, key: &[u8]) {
        self.hashes.push(KeyHash::of(key, self.shape.seed));
        self.wildcards = self.wildcards.max(wildcard::depth(key));
    }

    /// Builds the filter.
    ///
    /// The bits are set as if all keys differed. That holds if each set a bit that was not set
    /// before; else the different ones are counted, and if there are fewer, the bits are set again.
    ///
    /// # Errors
    ///
    /// [`BuildError::Bits`]
    pub fn build(mut self) -> Result<BuiltFilter, BuildError> {
        let count = self.hashes.len();
        let (count, bits) = match self.bits(count) {
            Ok((bits, true)) => (count, bits),
            Ok((bits, false)) => self.recount(count, Some(bits))?,
            // The different ones may be few enough.
            Err(_) => self.recount(count, None)?,
        };
        Ok(BuiltFilter { n: count, shape: self.shape, wildcards: self.wildcards, bits })
    }

    /// How many keys differ, and their bits: those that were set for all, if all do.
    fn recount(
        &mut self,
        count: u64,
        bits: Option<BitArray>,
    ) -> Result<(u64, BitArray), BuildError> {
        let distinct = self.hashes.count_distinct();
        match bits.filter(|_| distinct == count) {
            Some(bits) => Ok((count, bits)),
            None => Ok((distinct, self.bits(distinct)?.0)),
        }
    }

    /// The bits of all keys, of which `count` differ, and whether each set a new one.
    fn bits(&self, count: u64) -> Result<(BitArray, bool), BuildError> {
        let mut bits = self.shape.bit_array(count)?;
        let all_are_new = self.hashes.iter().fold(true, |all, hash| bits.insert(hash) & all);
        Ok((bits, all_are_new))
    }
}
