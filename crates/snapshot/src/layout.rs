//! The layout of a snapshot file:
//!
//! ```text
//! header | frames: data and holes | manifest | seek table
//! ```
//!
//! All numbers are little-endian.

use crate::digest::Digest;
use crate::limits::{MAX_FRAMES, MAX_HOLE_LENGTH};

/// `hedgevhs`, the magic number of the contents of the header and of the manifest.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"hedgevhs");

/// The version of the format.
pub(crate) const VERSION: u16 = 1;

/// The number of the digest function BLAKE3 with 256 bits.
pub(crate) const BLAKE3: u8 = 1;

/// Length of a skippable frame without its content, in bytes.
pub(crate) const SKIPPABLE_LENGTH: u64 = 8;

/// Length of the header, in bytes.
pub(crate) const HEADER_LENGTH: usize = SKIPPABLE_LENGTH as usize + 24;

/// Length of the manifest's content before its entries, in bytes.
pub(crate) const HEAD_LENGTH: usize = 32;

/// Length of an entry of the manifest, in bytes.
pub(crate) const ENTRY_LENGTH: usize = 44;

/// Length of an entry of the seek table, in bytes.
pub(crate) const SEEK_ENTRY_LENGTH: usize = 8;
/// Length of the footer after the entries of the seek table, in bytes.
pub(crate) const FOOTER_LENGTH: usize = 9;

/// Entries of the seek table in addition to those of frames: the header and the manifest.
pub(crate) const SEEK_EXTRA: u32 = 2;

/// Returns the length of the manifest's content.
pub(crate) const fn manifest_length(frames: u32) -> u64 {
    (HEAD_LENGTH + Digest::LENGTH) as u64 + frames as u64 * ENTRY_LENGTH as u64
}

/// Returns the length of the seek table's content.
pub(crate) const fn seek_table_length(frames: u32) -> u64 {
    (frames as u64 + SEEK_EXTRA as u64) * SEEK_ENTRY_LENGTH as u64 + FOOTER_LENGTH as u64
}

/// Returns the length of the manifest and the seek table together.
pub(crate) const fn tail_length(frames: u32) -> u64 {
    2 * SKIPPABLE_LENGTH + manifest_length(frames) + seek_table_length(frames)
}

/// Returns the maximum length in the file of a frame of `raw_length` bytes of data. zstd never needs
/// more.
pub const fn max_compressed_length(raw_length: u32) -> u32 {
    raw_length.saturating_add(raw_length / 256 + 64)
}

const _: () = {
    assert!(tail_length(MAX_FRAMES) <= u32::MAX as u64);
    // Sums of lengths cannot overflow 64 bits.
    assert!(MAX_FRAMES as u64 * MAX_HOLE_LENGTH as u64 <= 1 << 46);
};
