//! The reader of the tables in a delta's manifest.

use alloc::string::String;
use alloc::vec::Vec;

use crate::delta::index::{BaseObject, FrameBlocks, Index, IndexedFrame, Mapping};
use crate::delta::layout::{
    BASE_OBJECT_LENGTH, FRAME_LENGTH, HOLE, MAPPING_LENGTH, MAX_FILE_SIZE, MIN_FILE_SIZE, START,
};
use crate::delta::reference::is_reference;
use crate::field::{Field, Fields, Number};
use crate::format_error::{Fault, FormatError};
use crate::layout::{HEADER_LENGTH, max_compressed_length};
use crate::limits::{BLOCK_SIZE, MAX_REFERENCE_LENGTH};

/// The index so far, and what the next entries are checked against.
pub(super) struct TableReader {
    pub(super) index: Index,
    /// The end of the delta's own frames.
    pub(super) manifest_offset: u64,
    /// For each frame, the block after the last one that a mapping has used.
    pub(super) used: Vec<u32>,
}

impl TableReader {
    pub(super) fn read_objects(
        &mut self,
        table: &[u8],
        mut offset: u64,
        mut references: &[u8],
        mut reference_offset: u64,
    ) -> Result<(), FormatError> {
        for entry in table.chunks_exact(BASE_OBJECT_LENGTH) {
            let mut fields = Fields::new(entry, offset);
            let identity = fields.digest();
            let size = fields.number("size of the base object", 8);
            let length = fields.number("length of the reference", 2);
            fields.number("reserved bytes", 6).is(0_u32)?;
            if self.index.objects.iter().any(|object| object.identity == identity) {
                return Err(
                    Field::new("identity of the base object", offset).fails(Fault::Repeated)
                );
            }
            size.is_between(MIN_FILE_SIZE, MAX_FILE_SIZE)?;
            length.is_between(0_u32, MAX_REFERENCE_LENGTH)?;
            let field = Field::new("reference", reference_offset);
            let Some((bytes, rest)) = references.split_at_checked(length.found as usize) else {
                let (least, found) = (length.found, references.len() as u64);
                return Err(field.fails(Fault::TooShort { least, found }));
            };
            let reference = core::str::from_utf8(bytes)
                .ok()
                .filter(|reference| is_reference(reference))
                .ok_or_else(|| field.fails(Fault::Reference))?;
            let reference = String::from(reference);
            self.index.objects.push(BaseObject { identity, size: size.found, reference });
            references = rest;
            reference_offset += length.found;
            offset += BASE_OBJECT_LENGTH as u64;
        }
        // Between the last reference and the digest there is nothing.
        let rest = references.len() as u64;
        Field::new("end of the references", reference_offset).with(rest).is(0_u32)
    }

    pub(super) fn read_frames(&mut self, table: &[u8], mut offset: u64) -> Result<(), FormatError> {
        let objects = self.index.objects.len() as u64;
        let (mut object, mut end) = (0, START);
        for (number, entry) in (0..).zip(table.chunks_exact(FRAME_LENGTH)) {
            let mut fields = Fields::of_frame(entry, offset, number);
            let digest = fields.digest();
            let file_offset = fields.number("offset of the frame", 8);
            let compressed_length = fields.number("compressed length", 4);
            let raw_length = fields.number("raw length", 4);
            let object_number = fields.number("object", 1);
            fields.number("reserved bytes", 3).is(0_u32)?;
            raw_length.is_between(1_u32, self.index.piece_size)?;
            let most = max_compressed_length(raw_length.found as u32);
            compressed_length.is_between(1_u32, most)?;
            object_number.is_between(object, objects.min(object + 1))?;
            if object_number.found != object {
                self.check_own_end(object, end)?;
                (object, end) = (object_number.found, HEADER_LENGTH as u64);
            }
            let length = compressed_length.found;
            match object.checked_sub(1) {
                None => file_offset.is(end)?,
                Some(base) => {
                    let size = self.index.objects[base as usize].size;
                    file_offset.is_between(end, size.saturating_sub(length))?;
                }
            }
            end = file_offset.found + length;
            self.index.frames.push(IndexedFrame {
                object: object as u8,
                file_offset: file_offset.found,
                compressed_length: length as u32,
                raw_length: raw_length.found as u32,
                digest,
            });
            offset += FRAME_LENGTH as u64;
        }
        self.check_own_end(object, end)?;
        Field::new("object of the last frame", offset).with(object).is(objects)
    }

    /// Checks that the delta's own frames, if `object` is 0, end where its manifest begins.
    fn check_own_end(&self, object: u64, end: u64) -> Result<(), FormatError> {
        let offset = self.manifest_offset;
        if object > 0 {
            Ok(())
        } else {
            Field::new("offset of the manifest", offset).with(offset).is(end)
        }
    }

    pub(super) fn read_mappings(
        &mut self,
        table: &[u8],
        mut offset: u64,
    ) -> Result<(), FormatError> {
        let all_blocks = self.index.image_size.div_ceil(BLOCK_SIZE.into());
        let mut block = 0;
        for entry in table.chunks_exact(MAPPING_LENGTH) {
            let mut fields = Fields::new(entry, offset);
            let blocks = fields.number("length of the mapping", 4);
            let frame = fields.number("frame of the mapping", 4);
            let first = fields.number("first block of the mapping", 4);
            blocks.is_between(1_u32, all_blocks - block)?;
            let start = block * u64::from(BLOCK_SIZE);
            block += blocks.found;
            let data = if frame.found == u64::from(HOLE) {
                first.is(0_u32)?;
                None
            } else {
                let length = self.image_length(block) - start;
                self.use_frame(blocks, frame, first, length)?;
                let (frame, block) = (frame.found as u32, first.found as u32);
                Some(FrameBlocks { frame, block })
            };
            let mapping = Mapping { blocks: blocks.found as u32, data };
            if self.index.mappings.last().is_some_and(|last| last.is_continued_by(&mapping)) {
                return Err(Field::new("mapping", offset).fails(Fault::Divided));
            }
            self.index.mappings.push(mapping);
            offset += MAPPING_LENGTH as u64;
        }
        let covered = self.image_length(block);
        Field::new("end of the mappings", offset).with(covered).is(self.index.image_size)
    }

    /// Returns the length of the first blocks of the image, in bytes.
    fn image_length(&self, blocks: u64) -> u64 {
        self.index.image_size.min(blocks * u64::from(BLOCK_SIZE))
    }

    /// Checks that a mapping of `length` bytes lies within its frame, behind the mappings that use it before.
    fn use_frame(
        &mut self,
        blocks: Number,
        frame: Number,
        first: Number,
        length: u64,
    ) -> Result<(), FormatError> {
        let Some(most) = self.index.frames.len().checked_sub(1) else {
            return frame.is(HOLE);
        };
        frame.is_between(0_u32, most as u64)?;
        let raw_length = u64::from(self.index.frames[frame.found as usize].raw_length);
        let Some(rest) = raw_length.checked_sub(length) else {
            return blocks.is_between(1_u32, raw_length / u64::from(BLOCK_SIZE));
        };
        let used = &mut self.used[frame.found as usize];
        first.is_between(*used, rest / u64::from(BLOCK_SIZE))?;
        *used = (first.found + blocks.found) as u32;
        Ok(())
    }

    /// Checks that every frame is used. Its entries are at `offset` in the file.
    pub(super) fn check_use(&self, offset: u64) -> Result<(), FormatError> {
        match self.used.iter().position(|used| *used == 0) {
            None => Ok(()),
            Some(number) => {
                let offset = offset + number as u64 * FRAME_LENGTH as u64;
                Err(Field::of_frame("frame", number as u32, offset).fails(Fault::Unused))
            }
        }
    }
}
