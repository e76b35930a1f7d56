//! What decides that no prefix rule can match: a bit for how each of them begins and goes on.
//!
//! Two four-byte windows, the first bytes of a name and the last bytes before the end of the
//! shortest prefix rule, are hashed into a table of bits. A shortest prefix of fewer than four
//! bytes leaves only those. Names that pass are looked up in the trie.

use alloc::{vec, vec::Vec};

use crate::{
    bytes::u32_at,
    layout::{MAX_TABLE_BITS, MIN_TABLE_BITS},
};

const FOLD: u32 = 0x2020_2020;

/// Bits in the table for each prefix rule.
const BITS_PER_RULE: usize = 64;

/// The section, and the length of the shortest prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate<'a> {
    bits: &'a [u8],
    shortest: usize,
}

impl<'a> Gate<'a> {
    #[inline]
    pub(crate) fn new(bits: &'a [u8], shortest: u16) -> Self {
        Self {
            bits,
            shortest: usize::from(shortest),
        }
    }

    /// Whether a name may begin with one of the prefix rules.
    #[inline]
    pub(crate) fn admits(self, name: &[u8]) -> bool {
        if self.shortest == 0 || name.len() < self.shortest {
            return false;
        }
        let bit = beginning(name, self.shortest) as usize & (self.bits.len() * 8 - 1);
        self.bits[bit / 8] >> (bit % 8) & 1 != 0
    }
}

/// A hash of how `name` begins, by its first `shortest` bytes.
#[inline]
fn beginning(name: &[u8], shortest: usize) -> u64 {
    let (first, second) = if shortest < 4 {
        (
            name[..shortest]
                .iter()
                .fold(0, |word, &byte| word << 8 | u32::from(byte)),
            0,
        )
    } else {
        (u32_at(name, 0), u32_at(name, shortest - 4))
    };
    let word = u64::from(first | FOLD) | u64::from(second | FOLD) << 32;
    (word ^ (word >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

/// Builds the section for `prefixes`: its bits, their number as a power of two, and the length of
/// the shortest prefix (0: there are none).
pub(crate) fn build(prefixes: &[&[u8]]) -> (Vec<u8>, u8, u16) {
    let bits = ((prefixes.len() * BITS_PER_RULE).next_power_of_two().ilog2() as u8)
        .clamp(MIN_TABLE_BITS, MAX_TABLE_BITS);
    let shortest = prefixes
        .iter()
        .map(|prefix| prefix.len())
        .min()
        .unwrap_or(0);
    let mut table = vec![0; 1 << (bits - 3)];
    for prefix in prefixes {
        let bit = beginning(prefix, shortest) as usize & ((1 << bits) - 1);
        table[bit / 8] |= 1 << (bit % 8);
    }
    (table, bits, shortest as u16)
}
