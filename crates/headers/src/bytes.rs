//! Little-endian numbers in byte slices, and comparison of names.

use core::cmp::Ordering;

use crate::Spelling;

#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

#[inline]
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("enough bytes")
}

/// Compares two names, ignoring the case of ASCII letters. Not inlined, to keep the WebAssembly
/// module small.
#[inline(never)]
pub(crate) fn compare(a: &[u8], b: &[u8], spelling: Spelling) -> Ordering {
    let folded = |&byte: &u8| spelling.fold(byte);
    a.iter().map(folded).cmp(b.iter().map(folded))
}
