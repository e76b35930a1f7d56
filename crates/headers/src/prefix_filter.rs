//! The filter for prefix rules: decides for most names that no prefix rule can match.
//!
//! The first bytes of a name, as many as the shortest prefix rule has but at most eight, select a
//! bucket. Most buckets are empty, and their names match no prefix. Prefixes that share a bucket
//! usually begin alike and differ later, so a bucket stores the offset of the last four bytes of
//! its shortest prefix, and a bit for the hash of the four bytes that each of its prefixes has at
//! that offset. Names that pass both tests are looked up in the trie.
//!
//! ```text
//!  bucket  63 … 32                   │ 31 … 0
//!          offset of the four bytes  │ a bit for the hash of the four bytes of each prefix
//! ```
//!
//! Testing whether a bucket is empty takes no branch. The second test is rarely needed.

use alloc::{vec, vec::Vec};

use crate::{
    bytes::u32_at,
    hash::Words,
    layout::{BUCKET_LENGTH, MAX_PREFIX_FILTER_BITS, MIN_PREFIX_FILTER_BITS},
};

/// Bits in the table per prefix rule: sixteen buckets, so that few other names share a bucket with
/// a prefix.
const BITS_PER_RULE: usize = 1024;

/// Length of the second comparison, for buckets that are not empty.
const WINDOW: usize = 4;

/// A bucket that every name passes, because one of its prefixes is shorter than [`WINDOW`].
const OPEN: u64 = u32::MAX as u64;

/// A bucket, little-endian.
type Bucket = [u8; BUCKET_LENGTH];

/// A view of the section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefixFilter<'a> {
    buckets: &'a [Bucket],
    /// Mask of the bytes of a first word that every prefix has.
    shared: u64,
}

impl<'a> PrefixFilter<'a> {
    #[inline]
    pub(crate) fn new(buckets: &'a [u8], shortest: u16) -> Self {
        Self { buckets: buckets.as_chunks().0, shared: shared_bytes(usize::from(shortest)) }
    }

    /// Returns whether the bucket of a name with these words has a prefix.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn has_bucket(self, words: Words) -> bool {
        self.bucket(beginning(words, self.shared)) != 0
    }

    /// Returns whether a name may begin with a prefix rule. The set must have one.
    #[inline]
    pub(crate) fn admits(self, name: &[u8]) -> bool {
        let beginning = beginning(Words::of(name), self.shared);
        let bucket = self.bucket(beginning);
        if bucket == 0 {
            return false;
        }
        let Some(last) = name.len().checked_sub(WINDOW) else {
            return true;
        };
        let at = last.min((bucket >> 32) as usize);
        bucket >> bit_of(window(name, at)) & 1 != 0
    }

    #[inline]
    fn bucket(self, beginning: u64) -> u64 {
        u64::from_le_bytes(self.buckets[bucket_of(beginning, self.buckets.len())])
    }
}

/// Returns the mask of the bytes of a first word that every prefix has. The first word of a name of
/// four to seven bytes holds only four of them ([`Words`]), so only four count.
#[inline]
fn shared_bytes(shortest: usize) -> u64 {
    match shortest {
        8.. => u64::MAX,
        4.. => u64::MAX >> 32,
        _ => (1 << (8 * shortest)) - 1,
    }
}

/// Returns the bytes that select the bucket of a name with these words.
#[inline]
fn beginning(words: Words, shared: u64) -> u64 {
    folded(words.first) & shared
}

/// Folds the bytes of a word: each of the lower four bits becomes 1 if the bit above it is. For `-`
/// (0x2d), `_` (0x5f) and `.` (0x2e), all four do.
#[inline]
fn folded(word: u64) -> u64 {
    (word | word >> 1) & 0x0f0f_0f0f_0f0f_0f0f
}

/// Returns the bytes of the second comparison, folded.
#[inline]
fn window(name: &[u8], at: usize) -> u32 {
    folded(u64::from(u32_at(name, at))) as u32
}

#[inline]
fn bucket_of(beginning: u64, buckets: usize) -> usize {
    (beginning.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize & (buckets - 1)
}

#[inline]
fn bit_of(window: u32) -> u32 {
    window.wrapping_mul(0x85eb_ca6b) >> 27
}

/// Builds the section for `prefixes`, the shortest of which has `shortest` bytes (0 if there are
/// none). Returns the section and log2 of its number of bits.
pub(crate) fn build(prefixes: &[&[u8]], shortest: usize) -> (Vec<u8>, u8) {
    let bits = ((prefixes.len() * BITS_PER_RULE).next_power_of_two().ilog2() as u8)
        .clamp(MIN_PREFIX_FILTER_BITS, MAX_PREFIX_FILTER_BITS);
    let mut buckets = vec![0_u64; (1 << bits) / (8 * BUCKET_LENGTH)];
    let (count, shared) = (buckets.len(), shared_bytes(shortest));
    let mut sorted: Vec<(usize, &[u8])> = prefixes
        .iter()
        .map(|&prefix| {
            let beginning = beginning(Words::of(prefix), shared);
            (bucket_of(beginning, count), prefix)
        })
        .collect();
    sorted.sort_unstable();
    for together in sorted.chunk_by(|a, b| a.0 == b.0) {
        let end = together.iter().map(|(_, prefix)| prefix.len()).min().unwrap_or(0);
        let bucket = &mut buckets[together[0].0];
        match end.checked_sub(WINDOW) {
            None => *bucket = OPEN,
            Some(at) => {
                *bucket = (at as u64) << 32;
                for (_, prefix) in together {
                    *bucket |= 1 << bit_of(window(prefix, at));
                }
            }
        }
    }
    let bytes = buckets.into_iter().flat_map(u64::to_le_bytes).collect();
    (bytes, bits)
}
