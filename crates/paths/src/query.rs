//! Queries of the second line of a file, for readers that have the numbers of the first.

use crate::{
    alphabet::bits_of,
    fuse::Fuse,
    hash::KeyHash,
    limits::{MAX_HASHES, MAX_SEGMENT_LENGTH, MAX_SLOTS},
    probes::Probes,
};

/// The numbers of the first line that determine where the keys are in the second line.
///
/// A host that reads the first line itself passes the second line to every query.
/// [`PathFilter`](crate::PathFilter) reads whole files.
///
/// # Example
///
/// ```
/// use hedgerow_paths::Query;
///
/// let query = Query::bloom(138, 23, 0).expect("numbers within the limits");
/// assert!(query.has(b"/qqpVeKKgABfaKAFV6qqii/A", b"/foo/bar"));
/// assert!(!query.has(b"/qqpVeKKgABfaKAFV6qqii/A", b"/foo/bar/"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Query {
    s: u64,
    layout: Layout,
}

/// Where the keys are.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Bloom(Probes),
    Fuse(Fuse),
}

impl Query {
    /// Creates the query of a Bloom filter of `m` bits, `k` of them per key, with the seed `s`.
    /// Returns `None` if `m` or `k` is beyond its limit.
    pub fn bloom(m: u32, k: u32, s: u64) -> Option<Self> {
        let is_valid = m > 0 && (1..=MAX_HASHES).contains(&k);
        is_valid.then(|| Self { s, layout: Layout::Bloom(Probes::new(m, k)) })
    }

    /// Creates the query of a fuse filter of `m` slots in segments of `l`, with the multiplier `q`
    /// and the seed `s`. Returns `None` if there are not at least three whole segments, or if `m` or
    /// `l` is beyond its limit.
    pub fn fuse(m: u32, l: u32, q: u64, s: u64) -> Option<Self> {
        let is_valid = (1..=MAX_SEGMENT_LENGTH).contains(&l) && are_segments(m.into(), l.into());
        let layout = || Layout::Fuse(Fuse::new(m, l, q));
        (is_valid && m <= MAX_SLOTS).then(|| Self { s, layout: layout() })
    }

    /// Returns the seed of the hashes.
    pub fn seed(&self) -> u64 {
        self.s
    }

    /// Returns whether `key` may be in the set. `body` is the second line without its quotes and its
    /// padding; characters that are missing or not Base64 are zero bits.
    ///
    /// # Complexity
    ///
    /// A Bloom filter takes two hashes of the key and reads up to `k` characters: two on average for
    /// an absent key. A fuse filter takes one hash and reads three slots.
    #[inline]
    pub fn has(&self, body: &[u8], key: &[u8]) -> bool {
        match &self.layout {
            Layout::Bloom(probes) => has_bits(probes, body, KeyHash::of(key, self.s)),
            Layout::Fuse(fuse) => fuse.has(body, KeyHash::first(key, self.s)),
        }
    }

    /// Returns whether a key with this hash may be in the set.
    #[inline]
    pub fn has_hash(&self, body: &[u8], hash: KeyHash) -> bool {
        match &self.layout {
            Layout::Bloom(probes) => has_bits(probes, body, hash),
            Layout::Fuse(fuse) => fuse.has(body, hash.h1),
        }
    }
}

/// Returns whether `m` slots are at least three whole segments of `l` slots.
pub(crate) fn are_segments(m: u64, l: u64) -> bool {
    m.is_multiple_of(l) && m / l >= 3
}

#[inline]
fn has_bits(probes: &Probes, body: &[u8], hash: KeyHash) -> bool {
    probes.all(hash, |bit| {
        let character = body.get((bit / 6) as usize).copied().unwrap_or_default();
        bits_of(character) << (bit % 6) & 0b10_0000 != 0
    })
}
