//! Planning what to ask a server for.

use core::ops::Range;

use crate::frame::Frame;

/// How many bytes of other frames a range may have between two that are wanted: a request of its own
/// would cost more.
const MAX_GAP: u64 = 1 << 16;

/// Cuts the file into ranges to be asked for, so that all of `frames` are in them, which are in their
/// order. A range has at most `part_size` bytes unless a frame alone is longer. Each is the indices of its
/// frames: it begins and ends with one of `frames`, and has no others but those that cost less than a
/// request of its own would.
///
/// [`Manifest::ranges`](crate::Manifest::ranges) does so for all data; this is for those who have some of
/// it already.
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
