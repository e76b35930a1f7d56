//! What decides that no prefix rule can match.
//!
//! The first bytes of a name, as many as all prefix rules have but at most eight, choose one of a
//! table of buckets. Most buckets are empty, and their names are done with. Prefixes that share a
//! bucket begin alike, as a rule, and differ further on: the bucket tells where the shortest of
//! them has its last four bytes, and which four bytes its prefixes have there. Names that pass are
//! looked up in the trie.
//!
//! ```text
//!  bucket  63 … 32                     │ 31 … 0
//!          where the four bytes begin  │ a bit for the hash of the four bytes of each prefix
//! ```
//!
//! That a bucket is empty can be told without a branch; the rest is rare.

use alloc::{vec, vec::Vec};

use crate::{
    bytes::u32_at,
    hash::{FOLD, Words},
    layout::{BUCKET_LENGTH, MAX_TABLE_BITS, MIN_GATE_BITS},
};

/// Bits in the table for each prefix rule: sixteen buckets, so that names seldom share one with a
/// prefix by chance.
const BITS_PER_RULE: usize = 1024;

/// How many bytes are compared once more in a bucket that is not empty.
const WINDOW: usize = 4;

/// A bucket that every name passes: one of its prefixes has fewer bytes than are compared.
const OPEN: u64 = u32::MAX as u64;

/// A bucket, little-endian.
type Bucket = [u8; BUCKET_LENGTH];

/// The section, and what all prefixes have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate<'a> {
    buckets: &'a [Bucket],
    /// Ones for the bytes of a first word that every prefix has.
    shared: u64,
}

impl<'a> Gate<'a> {
    #[inline]
    pub(crate) fn new(buckets: &'a [u8], shortest: u16) -> Self {
        Self { buckets: buckets.as_chunks().0, shared: shared_bytes(usize::from(shortest)) }
    }

    /// Whether a name with these words, folded or not, has a bucket that is not empty.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn has_bucket(self, words: Words) -> bool {
        self.bucket(beginning(words, self.shared)) != 0
    }

    /// Whether a name may begin with one of the prefix rules, of which there is at least one.
    #[inline]
    pub(crate) fn admits(self, name: &[u8]) -> bool {
        let beginning = beginning(Words::of_any_case(name), self.shared);
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

/// Ones for the bytes of a first word that every prefix has. A name of fewer than eight bytes has at
/// most four in its first word, so that between four and eight only four count.
#[inline]
fn shared_bytes(shortest: usize) -> u64 {
    match shortest {
        8.. => u64::MAX,
        4.. => u64::MAX >> 32,
        _ => (1 << (8 * shortest)) - 1,
    }
}

/// What chooses the bucket of a name with these words.
#[inline]
fn beginning(words: Words, shared: u64) -> u64 {
    (words.first | FOLD) & shared
}

/// The bytes that are compared, folded.
#[inline]
fn window(name: &[u8], at: usize) -> u32 {
    u32_at(name, at) | FOLD as u32
}

#[inline]
fn bucket_of(beginning: u64, buckets: usize) -> usize {
    (beginning.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize & (buckets - 1)
}

#[inline]
fn bit_of(window: u32) -> u32 {
    window.wrapping_mul(0x85eb_ca6b) >> 27
}

/// Builds the section for `prefixes`, of which the shortest has `shortest` bytes (0: there are
/// none): its bits, and their number as a power of two.
pub(crate) fn build(prefixes: &[&[u8]], shortest: usize) -> (Vec<u8>, u8) {
    let bits = ((prefixes.len() * BITS_PER_RULE).next_power_of_two().ilog2() as u8)
        .clamp(MIN_GATE_BITS, MAX_TABLE_BITS);
    let mut buckets = vec![0_u64; (1 << bits) / (8 * BUCKET_LENGTH)];
    let (count, shared) = (buckets.len(), shared_bytes(shortest));
    let mut sorted: Vec<(usize, &[u8])> = prefixes
        .iter()
        .map(|&prefix| {
            let beginning = beginning(Words::of_any_case(prefix), shared);
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
