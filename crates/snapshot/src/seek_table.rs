//! The seek table of zstd's seekable format, at the end of the file.

use alloc::vec::Vec;
use core::iter::once;

use crate::field::Fields;
use crate::format_error::FormatError;
use crate::layout::{
    FOOTER_LENGTH, HEADER_LENGTH, SEEK_EXTRA, SKIPPABLE_LENGTH, manifest_length, seek_table_length,
};
use crate::limits::MAX_FRAMES;
use crate::skippable::Skippable;

/// The magic number at the end of the footer.
const MAGIC: u32 = 0x8F92_EAB1;

/// The lengths of a frame in the file and in the image.
type Lengths = [u32; 2];

/// Returns the lengths of all zstd frames before the table, given the `frames` of the image.
fn entries(frames: impl ExactSizeIterator<Item = Lengths>) -> impl Iterator<Item = Lengths> {
    let manifest = SKIPPABLE_LENGTH + manifest_length(frames.len() as u32);
    once([HEADER_LENGTH as u32, 0]).chain(frames).chain(once([manifest as u32, 0]))
}

/// Appends the table.
pub(crate) fn write(frames: impl ExactSizeIterator<Item = Lengths>, out: &mut Vec<u8>) {
    let count = frames.len() as u32;
    Skippable::SeekTable.write(seek_table_length(count), out);
    for lengths in entries(frames) {
        lengths.iter().for_each(|length| out.extend(length.to_le_bytes()));
    }
    out.extend((count + SEEK_EXTRA).to_le_bytes());
    out.push(0);
    out.extend(MAGIC.to_le_bytes());
}

/// Reads the number of frames of the image from the footer, which is at `offset` in the file.
pub(crate) fn frame_count(footer: &[u8; FOOTER_LENGTH], offset: u64) -> Result<u32, FormatError> {
    let mut fields = Fields::new(footer, offset);
    let count = fields.number("count of the seek table", 4);
    let descriptor = fields.number("descriptor of the seek table", 1);
    fields.number("magic number of the footer", 4).is_magic(MAGIC)?;
    descriptor.is(0_u32)?;
    count.is_between(SEEK_EXTRA, MAX_FRAMES + SEEK_EXTRA)?;
    Ok(count.found as u32 - SEEK_EXTRA)
}

/// Checks the table, which is at `offset` in the file, except for its footer.
pub(crate) fn check(
    table: &[u8],
    offset: u64,
    frames: impl ExactSizeIterator<Item = Lengths>,
) -> Result<(), FormatError> {
    let mut fields = Fields::new(table, offset);
    let count = frames.len() as u32;
    Skippable::SeekTable.check(&mut fields, seek_table_length(count))?;
    for (row, [compressed, raw]) in (0_u32..).zip(entries(frames)) {
        fields.set_frame(row.checked_sub(1).filter(|frame| *frame < count));
        fields.number("compressed length in the seek table", 4).is(compressed)?;
        fields.number("raw length in the seek table", 4).is(raw)?;
    }
    Ok(())
}
