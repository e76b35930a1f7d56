//! The head of the manifest: its content before the entries.

use crate::field::{Fields, Number};
use crate::format_error::FormatError;
use crate::layout::{BLAKE3, HEAD_LENGTH, MAGIC, VERSION};
use crate::limits::{MAX_IMAGE_SIZE, MAX_PIECE_SIZE, MIN_PIECE_SIZE};

/// The head of a manifest.
pub(crate) struct Head {
    pub(crate) piece_size: u32,
    pub(crate) image_size: u64,
    pub(crate) frames: u32,
}

impl Head {
    pub(crate) fn to_bytes(&self) -> [u8; HEAD_LENGTH] {
        let mut bytes = [0; HEAD_LENGTH];
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = BLAKE3;
        bytes[12..16].copy_from_slice(&self.piece_size.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.image_size.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.frames.to_le_bytes());
        bytes
    }
}

/// The unchecked fields of the head of a manifest.
pub(crate) struct HeadFields {
    magic: Number,
    version: Number,
    digest_function: Number,
    reserved: [Number; 2],
    piece_size: Number,
    pub(crate) image_size: Number,
    frames: Number,
}

impl HeadFields {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let magic = fields.number("magic number of the manifest's content", 8);
        let version = fields.number("version", 2);
        let digest_function = fields.number("digest function", 1);
        let reserved = fields.number("reserved byte", 1);
        let piece_size = fields.number("piece size", 4);
        let image_size = fields.number("image size", 8);
        let frames = fields.number("frame count", 4);
        let reserved = [reserved, fields.number("reserved bytes", 4)];
        Self { magic, version, digest_function, reserved, piece_size, image_size, frames }
    }

    /// Checks the fields that determine how to read the rest.
    pub(crate) fn check_version(&self) -> Result<(), FormatError> {
        self.magic.is_magic(MAGIC)?;
        self.version.is(VERSION)?;
        self.digest_function.is(BLAKE3)
    }

    /// Checks the other fields of a file whose seek table has `frames` frames.
    pub(crate) fn check(&self, frames: u32) -> Result<Head, FormatError> {
        for reserved in self.reserved {
            reserved.is(0_u32)?;
        }
        self.piece_size.is_between(MIN_PIECE_SIZE, MAX_PIECE_SIZE)?;
        self.piece_size.is_power_of_two()?;
        self.image_size.is_between(0_u32, MAX_IMAGE_SIZE)?;
        self.frames.is(frames)?;
        let piece_size = self.piece_size.found as u32;
        Ok(Head { piece_size, image_size: self.image_size.found, frames })
    }
}
