//! The entry of a frame in the manifest.

use crate::digest::Digest;
use crate::field::{Fields, Number};
use crate::format_error::FormatError;
use crate::frame::FrameKind;
use crate::hole::hole_frame_length;
use crate::layout::{ENTRY_LENGTH, max_compressed_length};
use crate::limits::MAX_HOLE_LENGTH;

/// The entry of a frame in the manifest.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) kind: FrameKind,
    pub(crate) raw_length: u32,
    pub(crate) compressed_length: u32,
    pub(crate) digest: Digest,
}

impl Entry {
    pub(crate) fn to_bytes(self) -> [u8; ENTRY_LENGTH] {
        let mut bytes = [0; ENTRY_LENGTH];
        bytes[..4].copy_from_slice(&self.raw_length.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.compressed_length.to_le_bytes());
        bytes[8] = match self.kind {
            FrameKind::Data => 0,
            FrameKind::Hole => 1,
        };
        bytes[12..].copy_from_slice(self.digest.as_bytes());
        bytes
    }

    /// Reads an entry, whose raw length must be a multiple of `unit`.
    pub(crate) fn read(
        fields: &mut Fields<'_>,
        piece_size: u32,
        unit: u32,
    ) -> Result<Self, FormatError> {
        let raw_length = fields.number("raw length", 4);
        let compressed_length = fields.number("compressed length", 4);
        let kind = fields.number("kind", 1);
        let reserved = fields.number("reserved bytes", 3);
        let digest = fields.digest();

        kind.is_between(0_u32, 1_u32)?;
        reserved.is(0_u32)?;
        let kind = if kind.found == 0 { FrameKind::Data } else { FrameKind::Hole };
        check_lengths(kind, raw_length, compressed_length, piece_size)?;
        raw_length.is_multiple_of(unit)?;
        Ok(Self {
            kind,
            raw_length: raw_length.found as u32,
            compressed_length: compressed_length.found as u32,
            digest,
        })
    }
}

/// Checks the length of a frame in the image and in the file.
pub(crate) fn check_lengths(
    kind: FrameKind,
    raw: Number,
    compressed: Number,
    piece_size: u32,
) -> Result<(), FormatError> {
    match kind {
        FrameKind::Data => {
            raw.is_between(1_u32, piece_size)?;
            compressed.is_between(1_u32, max_compressed_length(raw.found as u32))
        }
        FrameKind::Hole => {
            raw.is_between(1_u32, MAX_HOLE_LENGTH)?;
            compressed.is(hole_frame_length(raw.found as u32))
        }
    }
}
