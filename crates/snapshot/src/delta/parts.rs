//! The parts of a delta's image, assembled from those of its base and from what changed.

use alloc::vec::Vec;

use crate::delta::index::{FrameBlocks, Index, Part};
use crate::encode_error::EncodeError;
use crate::limits::BLOCK_SIZE;

/// Adds a part, or extends the last one if the part continues it.
pub(super) fn push_part(parts: &mut Vec<Part>, mut part: Part) {
    if let Some(last) = parts.last_mut().filter(|last| last.is_continued_by(&part)) {
        let blocks = part.blocks.min(u32::MAX - last.blocks);
        last.blocks += blocks;
        part.blocks -= blocks;
    }
    if part.blocks > 0 {
        parts.push(part);
    }
}

/// The parts of a base, from its first block that was neither copied nor skipped.
pub(super) struct BaseParts<'a> {
    parts: &'a [Part],
    /// The number of blocks taken of the first part.
    taken: u32,
    /// The number that the first frame of the base gets.
    first_frame: u32,
    /// The number of blocks copied and skipped.
    block: u64,
    /// The last block of the base, if it is shorter than that block of the image.
    short: Option<u64>,
    error: EncodeError,
}

impl<'a> BaseParts<'a> {
    /// Creates the parts for an image of `image_size` bytes.
    pub(super) fn new(base: &'a Index, first_frame: u32, image_size: u64) -> Self {
        let unit = u64::from(BLOCK_SIZE);
        let is_short = image_size > base.image_size && !base.image_size.is_multiple_of(unit);
        Self {
            parts: &base.parts,
            taken: 0,
            first_frame,
            block: 0,
            short: is_short.then_some(base.image_size / unit),
            error: EncodeError::Length { expected: image_size, found: base.image_size },
        }
    }

    /// Copies the parts up to block `end`. Beyond the base there are zeros.
    pub(super) fn copy(&mut self, end: u64, to: &mut Vec<Part>) -> Result<(), EncodeError> {
        if self.short.is_some_and(|short| (self.block..end).contains(&short)) {
            return Err(self.error);
        }
        self.take(end, |part| push_part(to, part));
        Ok(())
    }

    /// Skips the parts up to block `end`.
    pub(super) fn skip(&mut self, end: u64) {
        self.take(end, drop);
    }

    fn take(&mut self, end: u64, mut to: impl FnMut(Part)) {
        while self.block < end {
            let rest = u32::try_from(end - self.block).unwrap_or(u32::MAX);
            let Some((first, others)) = self.parts.split_first() else {
                to(Part { blocks: rest, data: None });
                self.block += u64::from(rest);
                continue;
            };
            let blocks = rest.min(first.blocks - self.taken);
            let data = first.data.map(|data| FrameBlocks {
                frame: self.first_frame + data.frame,
                block: data.block + self.taken,
            });
            to(Part { blocks, data });
            self.block += u64::from(blocks);
            self.taken += blocks;
            if self.taken == first.blocks {
                (self.parts, self.taken) = (others, 0);
            }
        }
    }
}
