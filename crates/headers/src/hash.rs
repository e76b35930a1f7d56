//! The hash of a field name that the front is built on.
//!
//! A per-byte walk costs a dependent load, and often a mispredicted branch, for each byte. This
//! hash reads three words instead, the first eight bytes, the last eight and the middle eight,
//! which cover every byte of a name of up to 24. Letters are folded by setting bit 5 of every
//! byte; what that confuses, such as `^` and `~`, costs a comparison and never an answer.

use crate::bytes::{u32_at, u64_at};

/// Sets bit 5 of every byte, which turns upper-case letters into lower-case ones.
const FOLD: u64 = 0x2020_2020_2020_2020;

/// A seeded hash of field names, equal for names that differ only in case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHasher {
    first: u64,
    last: u64,
}

impl NameHasher {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            first: mix(seed) | 1,
            last: mix(!seed) | 1,
        }
    }

    #[inline]
    pub(crate) fn hash(&self, name: &[u8]) -> u64 {
        let length = name.len();
        let (first, last) = if length >= 8 {
            let middle = u64_at(name, length / 2 - 4);
            (
                u64_at(name, 0),
                (u64_at(name, length - 8) | FOLD) ^ (middle | FOLD).rotate_left(27),
            )
        } else if length >= 4 {
            (
                u64::from(u32_at(name, 0)),
                u64::from(u32_at(name, length - 4)) | FOLD,
            )
        } else {
            (
                name.iter()
                    .fold(0, |word, &byte| word << 8 | u64::from(byte)),
                0,
            )
        };
        folded_multiply(
            (first | FOLD) ^ self.first,
            (last ^ self.last).wrapping_add(length as u64),
        )
    }

    /// The hash of something that is known by a number.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn hash_number(&self, number: u64) -> u64 {
        number.wrapping_mul(self.first)
    }
}

/// Both halves of the full product, which depend on every bit of both factors, as in wyhash.
#[inline]
fn folded_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// SplitMix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, 2014).
pub(crate) fn mix(state: u64) -> u64 {
    let mut word = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
