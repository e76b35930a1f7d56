//! A builder for keys that are added one by one.

use crate::{
    bit_array::BitArray,
    build_error::BuildError,
    built_filter::BuiltFilter,
    hash::KeyHash,
    hashes::Hashes,
    netstrings::{NetstringError, Netstrings},
    shape::Shape,
    wildcard,
};

/// Collects the keys of a filter, in 16 bytes per key and at most 1 MiB more.
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

    /// Adds the keys of a buffer of [netstrings](https://cr.yp.to/proto/netstrings.txt), such as
    /// `6:/about,7:/blog/*,`: a host adds many keys in one call. Returns their number.
    ///
    /// # Errors
    ///
    /// Returns a [`NetstringError`] if the buffer holds anything else, and adds none of its keys.
    pub fn insert_netstrings(&mut self, buffer: &[u8]) -> Result<u64, NetstringError> {
        for key in Netstrings::new(buffer) {
            key?;
        }
        Ok(Netstrings::new(buffer).flatten().map(|key| self.insert(key)).count() as u64)
    }

    /// Builds the filter.
    ///
    /// # Errors
    ///
    /// Returns [`BuildError::Bits`] if the keys need more than [`MAX_BITS`](crate::MAX_BITS) bits,
    /// or if the sizing gives them none; and [`BuildError::TooManyKeys`] if more keys differ than the
    /// [capacity](crate::PathFilterBuilder::capacity) allows.
    ///
    /// # Complexity
    ///
    /// Linear in the number of keys. If a key sets no new bit, and so may be a duplicate, the hashes
    /// are sorted to count the different keys; if there are fewer than were added, the bits are set
    /// again in a smaller filter.
    pub fn build(mut self) -> Result<BuiltFilter, BuildError> {
        let count = self.hashes.len();
        let (count, bits) = match self.bits(count) {
            Ok((bits, true)) => (count, bits),
            Ok((bits, false)) => self.recount(count, Some(bits))?,
            // There may be few enough without duplicates.
            Err(_) => self.recount(count, None)?,
        };
        Ok(BuiltFilter { n: count, shape: self.shape, wildcards: self.wildcards, bits })
    }

    /// Counts the distinct keys. Returns their number and bits; reuses `bits` if their number does not
    /// depend on the count, or if all keys differ.
    fn recount(
        &mut self,
        count: u64,
        bits: Option<BitArray>,
    ) -> Result<(u64, BitArray), BuildError> {
        let distinct = self.hashes.count_distinct();
        match bits.filter(|_| self.shape.capacity.is_some() || distinct == count) {
            Some(bits) => Ok((distinct, bits)),
            None => Ok((distinct, self.bits(distinct)?.0)),
        }
    }

    /// Returns the bits of all keys, `count` of which differ, and whether every key set a new bit.
    fn bits(&self, count: u64) -> Result<(BitArray, bool), BuildError> {
        let mut bits = self.shape.bit_array(count)?;
        let all_are_new = self.hashes.iter().fold(true, |all, hash| bits.insert(hash) & all);
        Ok((bits, all_are_new))
    }
}
