//! Comparison of a name with the folded text of a rule.

use core::iter::zip;

use crate::{
    Spelling,
    bytes::{u32_at, u64_at},
};

const ONES: u64 = 0x0101_0101_0101_0101;

/// Returns whether `name` equals `text`, ignoring case.
///
/// Names of common lengths are compared by three overlapping words rather than in a loop, whose
/// trip count the branch predictor would often miss.
#[inline]
pub(crate) fn is_name(name: &[u8], text: &[u8]) -> bool {
    let length = name.len();
    if length != text.len() {
        return false;
    }
    match length {
        8..=24 => {
            let differ = |at: usize| to_lower(u64_at(name, at)) ^ u64_at(text, at);
            differ(0) | differ(length - 8) | differ(length / 2 - 4) == 0
        }
        4..8 => {
            let differ =
                |at: usize| to_lower(u64::from(u32_at(name, at))) ^ u64::from(u32_at(text, at));
            differ(0) | differ(length - 4) == 0
        }
        _ => name.eq_ignore_ascii_case(text),
    }
}

/// Returns whether `name` equals the folded `text` in another spelling.
#[inline]
pub(crate) fn is_equivalent(name: &[u8], text: &[u8], spelling: Spelling) -> bool {
    let is_folded = |(&byte, &folded): (&u8, &u8)| byte == folded || spelling.fold(byte) == folded;
    name.len() == text.len() && zip(name, text).all(is_folded)
}

/// Lowercases the ASCII letters in eight bytes.
#[inline]
fn to_lower(word: u64) -> u64 {
    let low_bits = word & (0x7f * ONES);
    let from_a = low_bits + (0x80 - b'A' as u64) * ONES;
    let beyond_z = low_bits + (0x7f - b'Z' as u64) * ONES;
    let is_upper = (from_a ^ beyond_z) & !word & (0x80 * ONES);
    word | is_upper >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowercases_every_byte_at_every_position() {
        for byte in 0..=u8::MAX {
            for position in 0..8 {
                let mut bytes = [b'@', b'[', 0x80, 0xff, b'A', b'Z', 0x00, 0x7f];
                bytes[position] = byte;
                let lowered = to_lower(u64::from_le_bytes(bytes)).to_le_bytes();
                assert_eq!(lowered, bytes.map(|byte| byte.to_ascii_lowercase()));
            }
        }
    }
}
