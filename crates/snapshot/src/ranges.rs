//! Planning what to ask a server for.

use core::ops::Range;

use crate::frame::{Frame, FrameKind};

/// How many bytes of holes a range may have between two frames of data: a request of its own would cost
/// more.
const MAX_GAP: u64 = 1 << 16;

/// Cuts `frames` into ranges of about `part_size` bytes of the file, as [`Manifest::ranges`] says.
///
/// [`Manifest::ranges`]: crate::Manifest::ranges
pub(crate) fn ranges(frames: &[Frame], part_size: u32) -> impl Iterator<Item = Range<usize>> {
    let end_of = |frame: &Frame| frame.file_offset + u64::from(frame.compressed_length);
    let mut data = frames.iter().filter(|frame| frame.kind == FrameKind::Data).peekable();
    core::iter::from_fn(move || {
        let first = data.next()?;
        let mut last = first;
        while let Some(next) = data.next_if(|next| {
            next.file_offset - end_of(last) <= MAX_GAP
                && end_of(next) - first.file_offset <= u64::from(part_size)
        }) {
            last = next;
        }
        Some(first.index as usize..last.index as usize + 1)
    })
}
