//! Helpers that create and restore deltas in memory.

use std::{collections::HashMap, ops::Range};

use hedgerow_snapshot::{
    Decompressor, DeltaEncoder, DeltaPieceEncoder, Digest, EncodeError, FormatError, Index, Options,
};

const BLOCK: usize = 4096;

/// Files by identity.
pub type Files = HashMap<Digest, Vec<u8>>;

/// Parses the index of a file, and checks the beginning of the file.
pub fn open_index(file: &[u8]) -> Result<Index, FormatError> {
    let index = Index::parse(file, file.len() as u64)?;
    index.check_start(file.first_chunk().unwrap())?;
    Ok(index)
}

/// How a delta is created.
pub struct Delta<'a> {
    pub image: &'a [u8],
    /// The image of the base, if it is at hand for comparison.
    pub base_image: Option<&'a [u8]>,
    pub base: Index,
    /// The blocks that may have changed, in order.
    pub changed: &'a [Range<usize>],
    pub references: &'a [&'a str],
}

impl Delta<'_> {
    /// Creates the file. Skips pieces without changes.
    pub fn create(self, options: &Options) -> Result<Vec<u8>, EncodeError> {
        let piece_size = options.piece_size as usize;
        let mut encoder = DeltaEncoder::new(self.image.len() as u64, options, self.base)?;
        let mut pieces = DeltaPieceEncoder::new(options)?;
        let mut file = encoder.header();
        for (number, piece) in self.image.chunks(piece_size).enumerate() {
            let first = number * piece_size / BLOCK;
            let last = first + piece.len().div_ceil(BLOCK);
            let within =
                self.changed.iter().map(|range| range.start.max(first)..range.end.min(last));
            let within: Vec<_> = within
                .filter(|range| !range.is_empty())
                .map(|range| (range.start - first) as u32..(range.end - first) as u32)
                .collect();
            if within.is_empty() {
                continue;
            }
            let base = self.base_image.map(|base| {
                let start = base.len().min(number * piece_size);
                &base[start..base.len().min(start + piece_size)]
            });
            let piece = pieces.encode(piece, base, &within)?;
            encoder.push(first as u64, piece.frames, piece.runs)?;
            file.extend(piece.bytes);
        }
        file.extend(encoder.finish(self.references)?);
        Ok(file)
    }
}

/// Restores the image of a file, from it and from its base objects.
pub fn restore_from(files: &Files, file: &[u8]) -> Result<Vec<u8>, FormatError> {
    let index = open_index(file)?;
    let objects = index.objects().iter().map(|base| {
        let file = &files[&base.identity];
        assert_eq!(file.len() as u64, base.size);
        &file[..]
    });
    let objects: Vec<_> = [file].into_iter().chain(objects).collect();
    let mut decompressor = Decompressor::new(index.piece_size()).unwrap();
    let mut frames = Vec::new();
    for (number, frame) in index.frames().iter().enumerate() {
        let start = frame.file_offset as usize;
        let bytes =
            &objects[usize::from(frame.object)][start..][..frame.compressed_length as usize];
        let mut out = vec![0xaa; frame.raw_length as usize];
        decompressor.decompress(&frame.to_frame(number as u32), bytes, &mut out)?;
        frames.push(out);
    }
    let mut image = vec![0; index.image_size() as usize];
    for segment in index.segments() {
        let bytes = &frames[segment.frame as usize][segment.frame_offset as usize..];
        let length = segment.length as usize;
        image[segment.image_offset as usize..][..length].copy_from_slice(&bytes[..length]);
    }
    Ok(image)
}
