//! The hash of a field name, on which the table of exact rules is built.
//!
//! Hashing byte by byte costs a dependent load, and often a mispredicted branch, per byte. This
//! hash reads three words instead: the first eight bytes, the last eight and the middle eight,
//! which cover every byte of a name of up to 24. Letters are folded by setting bit 5 of every byte.
//! That makes some other characters equal, such as `^` and `~`, which costs a comparison but never
//! a wrong result. Names known to be in lower case are hashed without folding, so their hashes
//! differ from those of folded names.

use crate::{bytes::u64_at, mix::mix};

/// Mask that sets bit 5 of every byte, which turns upper-case letters into lower-case ones.
pub(crate) const FOLD: u64 = 0x2020_2020_2020_2020;

/// A seeded hash of field names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHasher {
    first: u64,
    last: u64,
}

impl NameHasher {
    pub(crate) fn new(seed: u64) -> Self {
        Self { first: mix(seed) | 1, last: mix(!seed) | 1 }
    }

    /// Hashes a name. Names that differ only in case have the same hash.
    #[inline]
    pub(crate) fn hash(&self, name: &[u8]) -> u64 {
        self.hash_words(Words::of_any_case(name))
    }

    /// Hashes a name given by its words.
    #[inline]
    pub(crate) fn hash_words(&self, words: Words) -> u64 {
        folded_multiply(
            words.first ^ self.first,
            (words.rest ^ self.last).wrapping_add(words.length as u64),
        )
    }

    /// Hashes a name given by its number.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn hash_number(&self, number: u64) -> u64 {
        number.wrapping_mul(self.first)
    }
}

/// The words of a name that the hash reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Words {
    /// The first eight bytes; of a shorter name the first four, or all if it has fewer than four.
    pub(crate) first: u64,
    /// The last eight bytes and the middle eight; of a shorter name the last four, or 0.
    rest: u64,
    length: usize,
}

impl Words {
    /// Returns the words of a name of either case, folded.
    #[inline]
    pub(crate) fn of_any_case(name: &[u8]) -> Self {
        Self::folded_by::<FOLD>(name)
    }

    /// Returns the words of a name in lower case, unfolded.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn of_lower_case(name: &[u8]) -> Self {
        Self::folded_by::<0>(name)
    }

    #[inline]
    fn folded_by<const BITS: u64>(name: &[u8]) -> Self {
        let length = name.len();
        let (first, rest) =
            if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
                let middle = u64_at(name, (length - 8) / 2) | BITS;
                let last = u64::from_le_bytes(*last) | BITS;
                (u64::from_le_bytes(*first), last ^ middle.rotate_left(27))
            } else if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
                let first = u64::from(u32::from_le_bytes(*first));
                (first, u64::from(u32::from_le_bytes(*last)) | BITS)
            } else {
                let byte = |at: usize| name.get(at).map_or(0, |&byte| u64::from(byte));
                (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
            };
        Self { first: first | BITS, rest, length }
    }
}

/// Combines both halves of the full product, so that the result depends on every bit of both
/// factors, as in wyhash.
#[inline]
fn folded_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
