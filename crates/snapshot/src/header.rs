//! The header, which identifies the file to programs that read its beginning. It repeats fields of the
//! manifest.

use alloc::vec::Vec;

use crate::delta;
use crate::field::{Fields, Number};
use crate::format_error::FormatError;
use crate::layout::{HEADER_LENGTH, MAGIC, SKIPPABLE_LENGTH, VERSION};
use crate::skippable::Skippable;

const CONTENT_LENGTH: u64 = HEADER_LENGTH as u64 - SKIPPABLE_LENGTH;

/// Returns the header of a file.
pub(crate) fn header(version: u16, image_size: u64, piece_size: u32) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER_LENGTH);
    Skippable::Header.write(CONTENT_LENGTH, &mut header);
    header.extend(MAGIC.to_le_bytes());
    header.extend(version.to_le_bytes());
    header.extend([0; 2]);
    header.extend(piece_size.to_le_bytes());
    header.extend(image_size.to_le_bytes());
    header
}

/// Checks the beginning of a header of a known version, and returns its version and the rest of its fields.
pub(crate) fn check_version(
    bytes: &[u8; HEADER_LENGTH],
) -> Result<(Number, Fields<'_>), FormatError> {
    let mut fields = Fields::new(bytes, 0);
    let length = Skippable::Header.check_magic(&mut fields)?;
    fields.number("magic number of the header's content", 8).is_magic(MAGIC)?;
    let version = fields.number("version in the header", 2);
    version.is_between(VERSION, delta::VERSION)?;
    // Check the length after the version: other versions may have another length.
    length.is(CONTENT_LENGTH)?;
    Ok((version, fields))
}

/// Checks the header of a file of this version.
pub(crate) fn check_header(
    bytes: &[u8; HEADER_LENGTH],
    version: u16,
    image_size: u64,
    piece_size: u32,
) -> Result<(), FormatError> {
    let (found, mut fields) = check_version(bytes)?;
    found.is(version)?;
    fields.number("reserved bytes of the header", 2).is(0_u32)?;
    fields.number("piece size in the header", 4).is(piece_size)?;
    fields.number("image size in the header", 8).is(image_size)
}
