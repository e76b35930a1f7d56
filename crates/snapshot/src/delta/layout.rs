//! The layout of a delta file:
//!
//! ```text
//! header | mark | data frames | manifest | footer
//! ```

use crate::digest::Digest;
use crate::layout::{FOOTER_LENGTH, HEADER_LENGTH, SKIPPABLE_LENGTH};
use crate::limits::{MAX_BASE_OBJECTS, MAX_FRAMES, MAX_MAPPINGS, MAX_REFERENCE_LENGTH};

/// The version of deltas.
pub(crate) const VERSION: u16 = 2;

/// The bytes after the header: the magic number of a zstd frame, and a descriptor with the reserved bit, with
/// which no decoder continues. After bytes that do not begin a frame, `zstd -dcf` would copy the
/// file as it is.
pub(crate) const MARK: u64 = u64::from_le_bytes(*b"\x28\xb5\x2f\xfd\x08vhs");

/// The magic number at the end of the footer: `vhsd`. Readers of the seekable format expect another one.
pub(crate) const FOOTER_MAGIC: u32 = u32::from_le_bytes(*b"vhsd");

/// Length of the header and the mark, in bytes: the offset of the first frame.
pub(crate) const START: u64 = HEADER_LENGTH as u64 + size_of::<u64>() as u64;

/// Length of the manifest's content before its tables, in bytes.
pub(crate) const HEAD_LENGTH: usize = 40;

/// Length of the entry of a base object, in bytes.
pub(crate) const BASE_OBJECT_LENGTH: usize = 48;

/// Length of the entry of a frame, in bytes.
pub(crate) const FRAME_LENGTH: usize = 52;

/// Length of the entry of a mapping, in bytes.
pub(crate) const MAPPING_LENGTH: usize = 12;

/// The frame number of a mapping that is a hole.
pub(crate) const HOLE: u32 = u32::MAX;

/// Length of the content of a manifest with empty tables.
pub(crate) const MIN_CONTENT: u64 = (HEAD_LENGTH + Digest::LENGTH) as u64;

/// Maximum length of a manifest's content.
pub(crate) const MAX_CONTENT: u64 = MIN_CONTENT
    + MAX_BASE_OBJECTS as u64 * (BASE_OBJECT_LENGTH as u64 + MAX_REFERENCE_LENGTH as u64)
    + MAX_FRAMES as u64 * FRAME_LENGTH as u64
    + MAX_MAPPINGS as u64 * MAPPING_LENGTH as u64;

/// Returns the length of the tail, with a manifest of `content` bytes.
pub(crate) const fn tail_length(content: u64) -> u64 {
    SKIPPABLE_LENGTH + content + FOOTER_LENGTH as u64
}

/// The size of the smallest file that can be a base object: a delta with empty tables.
pub(crate) const MIN_FILE_SIZE: u64 = START + tail_length(MIN_CONTENT);

/// The size of the largest file: numbers in JavaScript are exact up to it.
pub(crate) const MAX_FILE_SIZE: u64 = (1 << 53) - 1;

const _: () = assert!(MAX_CONTENT <= u32::MAX as u64);
