//! A builder for keys that are added one by one.

use crate::{
    bit_array::BitArray,
    build_error::BuildError,
    built_filter::{Body, BuiltFilter},
    fuse_table::FuseTable,
    hash::KeyHash,
    hashes::Hashes,
    kind::Kind,
    netstrings::{NetstringError, Netstrings},
    shape::Shape,
    wildcard,
};

/// Collects the keys of a filter, in 16 bytes per key (8 for [`Kind::Fuse`]) and at most 1 MiB more.
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
    keys: Keys,
    wildcards: u32,
}

/// The hashes of keys, as many of each as a filter needs.
enum Keys {
    Bloom(Hashes<KeyHash>),
    Fuse(Hashes<u64>),
}

impl KeyCollector {
    pub(crate) fn new(shape: Shape) -> Self {
        let keys = match shape.kind {
            Kind::Bloom => Keys::Bloom(Hashes::new()),
            Kind::Fuse => Keys::Fuse(Hashes::new()),
        };
        Self { shape, keys, wildcards: 0 }
    }

    /// Adds a key.
    pub fn insert(&mut self, key: &[u8]) {
        match &mut self.keys {
            Keys::Bloom(hashes) => hashes.push(KeyHash::of(key, self.shape.seed)),
            Keys::Fuse(hashes) => hashes.push(KeyHash::first(key, self.shape.seed)),
        }
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
    /// - [`BuildError::Bits`] if the keys need more than [`MAX_BITS`](crate::MAX_BITS) bits, or if
    ///   the sizing gives them none.
    /// - [`BuildError::TooManyKeys`] if more keys differ than the
    ///   [capacity](crate::PathFilterBuilder::capacity) allows.
    /// - [`BuildError::Slots`] if the keys of a fuse filter need more than
    ///   [`MAX_SLOTS`](crate::MAX_SLOTS) slots.
    /// - [`BuildError::Attempts`] if no arrangement of the keys of a fuse filter is found.
    ///
    /// # Complexity
    ///
    /// Linear in the number of keys. If a key sets no new bit, and so may be a duplicate, the hashes
    /// are sorted to count the different keys; if there are fewer than were added, the bits are set
    /// again in a smaller filter. The hashes of a fuse filter are always sorted.
    pub fn build(self) -> Result<BuiltFilter, BuildError> {
        let Self { shape, keys, wildcards } = self;
        let (n, body) = match keys {
            Keys::Bloom(hashes) => {
                let (n, bits) = bloom(shape, hashes)?;
                (n, Body::Bloom(bits))
            }
            Keys::Fuse(hashes) => {
                let table = FuseTable::new(hashes.into_vec())?;
                (table.n, Body::Fuse(table))
            }
        };
        Ok(BuiltFilter { n, shape, wildcards, body })
    }
}

/// Returns the number of distinct keys, and their bits.
fn bloom(shape: Shape, mut hashes: Hashes<KeyHash>) -> Result<(u64, BitArray), BuildError> {
    let count = hashes.len();
    let bits = match bits(shape, &hashes, count) {
        Ok((bits, true)) => return Ok((count, bits)),
        Ok((bits, false)) => Some(bits),
        // There may be few enough without duplicates.
        Err(_) => None,
    };
    let distinct = hashes.count_distinct();
    // With a capacity, the number of bits does not depend on the count.
    match bits.filter(|_| shape.capacity.is_some() || distinct == count) {
        Some(bits) => Ok((distinct, bits)),
        None => Ok((distinct, self::bits(shape, &hashes, distinct)?.0)),
    }
}

/// Returns the bits of all keys, `count` of which differ, and whether every key set a new bit.
fn bits(
    shape: Shape,
    hashes: &Hashes<KeyHash>,
    count: u64,
) -> Result<(BitArray, bool), BuildError> {
    let mut bits = shape.bit_array(count)?;
    let all_are_new = hashes.iter().fold(true, |all, hash| bits.insert(hash) & all);
    Ok((bits, all_are_new))
}
