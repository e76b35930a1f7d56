//! The hash of a field name, on which the table of exact rules is built.
//!
//! Hashing byte by byte costs a dependent load, and often a mispredicted branch, per byte. This
//! hash reads two words instead: the first eight bytes and the last eight. Of each byte it keeps
//! four bits that `-`, `_` and `.` share, and the two cases of a letter. Some other names become
//! equal by that, which costs a comparison but never a wrong result.

use crate::mix::mix;

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

    /// Hashes a name. Equivalent names have the same hash.
    #[inline]
    pub(crate) fn hash(&self, name: &[u8]) -> u64 {
        self.hash_words(Words::of(name))
    }

    /// Hashes a name given by its words.
    #[inline]
    pub(crate) fn hash_words(&self, words: Words) -> u64 {
        folded_multiply(
            words.first ^ self.first,
            (words.last ^ self.last).wrapping_add(words.length as u64),
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
    /// The last eight bytes; of a shorter name the last four, or 0.
    last: u64,
    length: usize,
}

impl Words {
    /// Returns the words of a name.
    #[inline]
    pub(crate) fn of(name: &[u8]) -> Self {
        let (first, last) =
            if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
                (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
            } else if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
                (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
            } else {
                let byte = |at: usize| name.get(at).map_or(0, |&byte| u64::from(byte));
                (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
            };
        Self { first: folded(first), last: folded(last), length: name.len() }
    }
}

/// Folds the bytes of a word: each of the lower four bits becomes 1 if the bit above it is. For `-`
/// (0x2d), `_` (0x5f) and `.` (0x2e), all four do.
#[inline]
pub(crate) fn folded(word: u64) -> u64 {
    (word | word >> 1) & 0x0f0f_0f0f_0f0f_0f0f
}

/// Combines both halves of the full product, so that the result depends on every bit of both
/// factors, as in wyhash.
#[inline]
fn folded_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_characters_are_folded_alike() {
        let of = |byte: u8| folded(u64::from(byte));
        assert!([b'_', b'.'].iter().all(|&byte| of(byte) == of(b'-')));
        for byte in b'a'..=b'z' {
            assert_eq!(of(byte), of(byte.to_ascii_uppercase()));
        }
    }
}
