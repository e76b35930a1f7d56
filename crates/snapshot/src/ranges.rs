//! The plan of range requests.

use core::ops::Range;

use crate::frame::Frame;

/// Maximum number of bytes of other frames between two requested frames of a range. Downloading them
/// costs less than another request.
const MAX_GAP: u64 = 1 << 16;

/// Cuts the file into ranges to request that cover `frames`, which must be in order.
///
/// Each range is a range of frame indices. It begins and ends with one of `frames`, and has at most
/// `part_size` bytes unless a single frame is longer. It may have other frames in between, if
/// downloading them costs less than another request.
///
/// [`Manifest::ranges`](crate::Manifest::ranges) does this for all data frames. Use this function if
/// some of them are already present.
pub fn ranges<'a>(
    frames: impl IntoIterator<Item = &'a Frame>,
    part_size: u32,
) -> impl Iterator<Item = Range<usize>> {
    let end_of = |frame: &Frame| frame.file_offset + u64::from(frame.compressed_length);
    let mut frames = frames.into_iter().peekable();
    core::iter::from_fn(move || {
        let first = frames.next()?;
        let mut last = first;
        while let Some(next) = frames.next_if(|next| {
            next.file_offset.saturating_sub(end_of(last)) <= MAX_GAP
                && end_of(next).saturating_sub(first.file_offset) <= u64::from(part_size)
        }) {
            last = next;
        }
        Some(first.index as usize..last.index as usize + 1)
    })
}
