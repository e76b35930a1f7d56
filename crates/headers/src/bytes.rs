//! Little-endian numbers in byte slices, and comparison without regard to case.

use core::cmp::Ordering;

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

/// Compares two byte strings, ignoring the case of ASCII letters. Not inlined, to keep the
/// WebAssembly module small.
#[inline(never)]
pub(crate) fn compare_ignoring_case(a: &[u8], b: &[u8]) -> Ordering {
    let a = a.iter().map(u8::to_ascii_lowercase);
    a.cmp(b.iter().map(u8::to_ascii_lowercase))
}
