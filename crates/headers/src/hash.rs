//! The hash of a field name that the front is built on.
//!
//! A per-byte walk costs a dependent load, and often a mispredicted branch, for each byte. This
//! hash reads three words instead, the first eight bytes, the last eight and the middle eight,
//! which cover every byte of a name of up to 24. Letters are folded by setting bit 5 of every
//! byte; what that confuses, such as `^` and `~`, costs a comparison and never an answer. Names
//! that are known to be in lower case are read as they are, which gives them hashes of their own.

use crate::{bytes::u64_at, mix::mix};

/// Sets bit 5 of every byte, which turns upper-case letters into lower-case ones.
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

    /// The hash of a name, equal for names that differ only in case.
    #[inline]
    pub(crate) fn hash(&self, name: &[u8]) -> u64 {
        self.hash_words(Words::of_any_case(name))
    }

    /// The hash of a name that is known by its words.
    #[inline]
    pub(crate) fn hash_words(&self, words: Words) -> u64 {
        folded_multiply(
            words.first ^ self.first,
            (words.rest ^ self.last).wrapping_add(words.length as u64),
        )
    }

    /// The hash of a name that is known by a number.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn hash_number(&self, number: u64) -> u64 {
        number.wrapping_mul(self.first)
    }
}

/// What the hash reads of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Words {
    /// The first eight bytes; of a shorter name the first four, or all three, two or one.
    pub(crate) first: u64,
    /// The last eight bytes and the middle eight; of a shorter name the last four, or nothing.
    rest: u64,
    length: usize,
}

impl Words {
    /// The words of a name of any case, folded.
    #[inline]
    pub(crate) fn of_any_case(name: &[u8]) -> Self {
        Self::folded_by::<FOLD>(name)
    }

    /// The words of a name in lower case, as they are.
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

/// Both halves of the full product, which depend on every bit of both factors, as in wyhash.
#[inline]
fn folded_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
