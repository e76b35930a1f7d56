//! The mappings of a delta's image, assembled from those of its base and from what changed.

use alloc::vec::Vec;

use crate::delta::index::{FrameBlocks, Index, Mapping};
use crate::encode_error::EncodeError;
use crate::limits::BLOCK_SIZE;

/// Adds a mapping, or extends the last one if the mapping continues it.
pub(super) fn push_mapping(mappings: &mut Vec<Mapping>, mut mapping: Mapping) {
    if let Some(last) = mappings.last_mut().filter(|last| last.is_continued_by(&mapping)) {
        let blocks = mapping.blocks.min(u32::MAX - last.blocks);
        last.blocks += blocks;
        mapping.blocks -= blocks;
    }
    if mapping.blocks > 0 {
        mappings.push(mapping);
    }
}

/// The mappings of a base, from its first block that was neither copied nor skipped.
pub(super) struct BaseMappings<'a> {
    mappings: &'a [Mapping],
    /// The number of blocks taken of the first mapping.
    taken: u32,
    /// The number that the first frame of the base gets.
    first_frame: u32,
    /// The number of blocks copied and skipped.
    block: u64,
    /// The last block of the base, if it is shorter than that block of the image.
    short: Option<u64>,
    error: EncodeError,
}

impl<'a> BaseMappings<'a> {
    /// Creates the mappings for an image of `image_size` bytes.
    pub(super) fn new(base: &'a Index, first_frame: u32, image_size: u64) -> Self {
        let unit = u64::from(BLOCK_SIZE);
        let is_short = image_size > base.image_size && !base.image_size.is_multiple_of(unit);
        Self {
            mappings: &base.mappings,
            taken: 0,
            first_frame,
            block: 0,
            short: is_short.then_some(base.image_size / unit),
            error: EncodeError::Length { expected: image_size, found: base.image_size },
        }
    }

    /// Copies the mappings up to block `end`. Beyond the base there are zeros.
    pub(super) fn copy(&mut self, end: u64, to: &mut Vec<Mapping>) -> Result<(), EncodeError> {
        if self.short.is_some_and(|short| (self.block..end).contains(&short)) {
            return Err(self.error);
        }
        self.take(end, |mapping| push_mapping(to, mapping));
        Ok(())
    }

    /// Skips the mappings up to block `end`.
    pub(super) fn skip(&mut self, end: u64) {
        self.take(end, drop);
    }

    fn take(&mut self, end: u64, mut to: impl FnMut(Mapping)) {
        while self.block < end {
            let rest = u32::try_from(end - self.block).unwrap_or(u32::MAX);
            let Some((first, others)) = self.mappings.split_first() else {
                to(Mapping { blocks: rest, data: None });
                self.block += u64::from(rest);
                continue;
            };
            let blocks = rest.min(first.blocks - self.taken);
            let data = first.data.map(|data| FrameBlocks {
                frame: self.first_frame + data.frame,
                block: data.block + self.taken,
            });
            to(Mapping { blocks, data });
            self.block += u64::from(blocks);
            self.taken += blocks;
            if self.taken == first.blocks {
                (self.mappings, self.taken) = (others, 0);
            }
        }
    }
}
