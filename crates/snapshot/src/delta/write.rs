//! The writer of a delta's manifest.

use alloc::vec::Vec;

use crate::delta::index::{BaseObject, FrameBlocks, IndexedFrame, Mapping};
use crate::delta::layout::{FOOTER_MAGIC, HOLE, VERSION, tail_length};
use crate::digest::Digest;
use crate::layout::{BLAKE3, MAGIC};
use crate::options::Options;
use crate::skippable::Skippable;

/// The content of a manifest.
pub(super) struct Content<'a> {
    pub(super) options: &'a Options,
    pub(super) image_size: u64,
    pub(super) depth: u32,
    pub(super) objects: &'a [BaseObject],
    pub(super) frames: &'a [IndexedFrame],
    pub(super) mappings: &'a [Mapping],
}

impl Content<'_> {
    /// Returns the end of the file: the manifest and the footer.
    pub(super) fn to_tail(&self) -> Vec<u8> {
        let mut content = MAGIC.to_le_bytes().to_vec();
        self.write_head(&mut content);
        self.objects.iter().for_each(|object| write_object(object, &mut content));
        self.frames.iter().for_each(|frame| write_frame(frame, &mut content));
        self.mappings.iter().for_each(|mapping| write_mapping(mapping, &mut content));
        self.objects.iter().for_each(|object| content.extend(object.reference.as_bytes()));
        content.extend(Digest::of(&content).as_bytes());

        let length = content.len() as u64;
        let mut tail = Vec::with_capacity(tail_length(length) as usize);
        Skippable::Manifest.write(length, &mut tail);
        tail.extend(content);
        tail.extend((length as u32).to_le_bytes());
        tail.push(0);
        tail.extend(FOOTER_MAGIC.to_le_bytes());
        tail
    }

    fn write_head(&self, out: &mut Vec<u8>) {
        out.extend(VERSION.to_le_bytes());
        out.extend([BLAKE3, self.options.level as u8]);
        out.extend(self.options.piece_size.to_le_bytes());
        out.extend(self.image_size.to_le_bytes());
        out.extend((self.frames.len() as u32).to_le_bytes());
        out.extend((self.mappings.len() as u32).to_le_bytes());
        out.extend([self.objects.len() as u8, 0, 0, 0]);
        out.extend(self.depth.to_le_bytes());
    }
}

fn write_object(object: &BaseObject, out: &mut Vec<u8>) {
    out.extend(object.identity.as_bytes());
    out.extend(object.size.to_le_bytes());
    out.extend((object.reference.len() as u16).to_le_bytes());
    out.extend([0; 6]);
}

fn write_frame(frame: &IndexedFrame, out: &mut Vec<u8>) {
    out.extend(frame.digest.as_bytes());
    out.extend(frame.file_offset.to_le_bytes());
    out.extend(frame.compressed_length.to_le_bytes());
    out.extend(frame.raw_length.to_le_bytes());
    out.extend([frame.object, 0, 0, 0]);
}

fn write_mapping(mapping: &Mapping, out: &mut Vec<u8>) {
    let FrameBlocks { frame, block } =
        mapping.data.unwrap_or(FrameBlocks { frame: HOLE, block: 0 });
    [mapping.blocks, frame, block].iter().for_each(|number| out.extend(number.to_le_bytes()));
}
