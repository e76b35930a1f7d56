//! The reader of a delta's manifest.

use alloc::vec;
use alloc::vec::Vec;

use crate::delta::index::Index;
use crate::delta::layout::{
    BASE_OBJECT_LENGTH, FRAME_LENGTH, HEAD_LENGTH, MAPPING_LENGTH, MAX_CONTENT, MIN_CONTENT,
    MIN_FILE_SIZE, START, VERSION, tail_length as tail_with,
};
use crate::delta::tables::TableReader;
use crate::digest::Digest;
use crate::field::{Field, Fields};
use crate::format_error::FormatError;
use crate::layout::{BLAKE3, FOOTER_LENGTH, MAGIC, SKIPPABLE_LENGTH};
use crate::limits::{
    MAX_BASE_OBJECTS, MAX_FRAMES, MAX_IMAGE_SIZE, MAX_LEVEL, MAX_MAPPINGS, MAX_PIECE_SIZE,
    MIN_LEVEL, MIN_PIECE_SIZE,
};
use crate::skippable::Skippable;

/// Returns the length of the tail of a file whose footer has the magic number of deltas.
pub(super) fn tail_length(
    footer: &[u8; FOOTER_LENGTH],
    file_size: u64,
) -> Result<u64, FormatError> {
    let size = Field::new("file size", file_size).with(file_size);
    size.is_at_least(MIN_FILE_SIZE)?;
    let mut fields = Fields::new(footer, file_size - FOOTER_LENGTH as u64);
    let length = fields.number("length in the footer", 4);
    fields.number("reserved byte of the footer", 1).is(0_u32)?;
    length.is_between(MIN_CONTENT, MAX_CONTENT)?;
    size.is_at_least(START + tail_with(length.found))?;
    Ok(tail_with(length.found))
}

/// Parses the index of a delta from the last bytes of its file.
pub(super) fn parse(tail: &[u8], file_size: u64) -> Result<Index, FormatError> {
    let found = tail.len() as u64;
    let size = Field::new("tail", file_size.saturating_sub(found)).with(found);
    size.is_at_least(FOOTER_LENGTH as u64)?;
    let footer = tail.last_chunk().unwrap_or(&[0; FOOTER_LENGTH]);
    let length = tail_length(footer, file_size)?;
    size.is_at_least(length)?;
    let manifest = &tail[tail.len() - length as usize..tail.len() - FOOTER_LENGTH];
    read(manifest, file_size - length, file_size)
}

/// Reads the manifest, which is at `offset` in the file.
fn read(manifest: &[u8], offset: u64, file_size: u64) -> Result<Index, FormatError> {
    let mut fields = Fields::new(manifest, offset);
    let length = Skippable::Manifest.check_magic(&mut fields)?;
    fields.number("magic number of the manifest's content", 8).is_magic(MAGIC)?;
    fields.number("version", 2).is(VERSION)?;
    fields.number("digest function", 1).is(BLAKE3)?;
    length.is(manifest.len() as u64 - SKIPPABLE_LENGTH)?;
    let (content, digest) = manifest.split_at(manifest.len() - Digest::LENGTH);
    let digest_offset = offset + content.len() as u64;
    let identity = Fields::new(digest, digest_offset).digest();
    Field::new("digest of the manifest", digest_offset)
        .has_digest(&content[SKIPPABLE_LENGTH as usize..], identity)?;

    let level = fields.number("level", 1);
    let piece_size = fields.number("piece size", 4);
    let image_size = fields.number("image size", 8);
    let frames = fields.number("frame count", 4);
    let mappings = fields.number("mapping count", 4);
    let objects = fields.number("base object count", 1);
    let reserved = fields.number("reserved bytes", 3);
    let depth = fields.number("depth", 4);
    level.is_between(MIN_LEVEL as u32, MAX_LEVEL as u32)?;
    piece_size.is_between(MIN_PIECE_SIZE, MAX_PIECE_SIZE)?;
    piece_size.is_power_of_two()?;
    image_size.is_between(0_u32, MAX_IMAGE_SIZE)?;
    frames.is_between(0_u32, MAX_FRAMES)?;
    mappings.is_between(0_u32, MAX_MAPPINGS)?;
    objects.is_between(0_u32, MAX_BASE_OBJECTS)?;
    reserved.is(0_u32)?;
    depth.is_between(1_u32, u32::MAX)?;

    // The tables must have their place before anything is allocated for them.
    let tables =
        [(objects, BASE_OBJECT_LENGTH), (frames, FRAME_LENGTH), (mappings, MAPPING_LENGTH)];
    let before_references = tables
        .iter()
        .fold(HEAD_LENGTH as u64, |sum, (count, length)| sum + count.found * *length as u64);
    length.is_at_least(before_references + Digest::LENGTH as u64)?;
    let (head, rest) = content.split_at(SKIPPABLE_LENGTH as usize + HEAD_LENGTH);
    let (object_table, rest) = rest.split_at(objects.found as usize * BASE_OBJECT_LENGTH);
    let (frame_table, rest) = rest.split_at(frames.found as usize * FRAME_LENGTH);
    let (mapping_table, references) = rest.split_at(mappings.found as usize * MAPPING_LENGTH);
    let objects_offset = offset + head.len() as u64;
    let frames_offset = objects_offset + object_table.len() as u64;
    let mappings_offset = frames_offset + frame_table.len() as u64;
    let references_offset = mappings_offset + mapping_table.len() as u64;

    let mut reader = TableReader {
        index: Index {
            version: VERSION,
            image_size: image_size.found,
            piece_size: piece_size.found as u32,
            file_size,
            depth: depth.found as u32,
            level: Some(level.found as u8),
            identity,
            objects: Vec::with_capacity(objects.found as usize),
            frames: Vec::with_capacity(frames.found as usize),
            mappings: Vec::with_capacity(mappings.found as usize),
        },
        manifest_offset: offset,
        used: vec![0; frames.found as usize],
    };
    reader.read_objects(object_table, objects_offset, references, references_offset)?;
    reader.read_frames(frame_table, frames_offset)?;
    reader.read_mappings(mapping_table, mappings_offset)?;
    reader.check_use(frames_offset)?;
    Ok(reader.index)
}
