//! The encoder, which assembles a snapshot from runs in the order of the image.

use alloc::vec::Vec;

use crate::digest::Digest;
use crate::encode_error::EncodeError;
use crate::entry::Entry;
use crate::frame::FrameKind;
use crate::header::header;
use crate::hole::HoleWriter;
use crate::layout::{VERSION, manifest_length, max_compressed_length, tail_length};
use crate::limits::{BLOCK_SIZE, MAX_FRAMES, MAX_HOLE_LENGTH, MAX_IMAGE_SIZE};
use crate::manifest_head::Head;
use crate::options::Options;
use crate::piece_encoder::Run;
use crate::seek_table;
use crate::skippable::Skippable;

/// Assembles a snapshot from the runs of an image, in their order.
///
/// The file is the [`header`](Self::header), then for each run the bytes that [`push`](Self::push)
/// returns followed by the run's own bytes, then the bytes that [`finish`](Self::finish) returns.
/// Adjacent holes are merged, so the file depends on the image and the options alone, not on how the
/// holes were found.
///
/// Takes about 100 bytes of memory per frame. See [`Manifest`](crate::Manifest) for an example.
pub struct Encoder {
    image_size: u64,
    piece_size: u32,
    /// Length of the runs pushed so far.
    image_offset: u64,
    /// Length of the zeros at the end of these runs that have no frame yet.
    hole: u64,
    holes: HoleWriter,
    entries: Vec<Entry>,
    output: Vec<u8>,
    failed: Option<EncodeError>,
}

impl Encoder {
    /// Creates an encoder for an image of `image_size` bytes.
    ///
    /// # Errors
    ///
    /// Returns an [`EncodeError`] if the size of the image or an option is beyond its limit.
    pub fn new(image_size: u64, options: &Options) -> Result<Self, EncodeError> {
        options.check()?;
        if image_size > MAX_IMAGE_SIZE {
            return Err(EncodeError::ImageSize { found: image_size });
        }
        Ok(Self {
            image_size,
            piece_size: options.piece_size,
            image_offset: 0,
            hole: 0,
            holes: HoleWriter::new(),
            entries: Vec::new(),
            output: Vec::new(),
            failed: None,
        })
    }

    /// Returns the header, with which the file begins.
    pub fn header(&self) -> Vec<u8> {
        header(VERSION, self.image_size, self.piece_size)
    }

    /// Adds the next run of the image. Returns the bytes to write before the run's own bytes: hole
    /// frames, which take 2 KiB per 64 MiB.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::Run`], [`EncodeError::Frame`] or [`EncodeError::Frames`]. After an error,
    /// every call returns the same error.
    pub fn push(&mut self, run: &Run) -> Result<&[u8], EncodeError> {
        self.output.clear();
        if self.failed.is_none() {
            self.failed = self.add(run).err();
        }
        match self.failed {
            Some(error) => Err(error),
            None => Ok(&self.output),
        }
    }

    fn add(&mut self, run: &Run) -> Result<(), EncodeError> {
        match *run {
            Run::Zeros { length } => self.add_zeros(length),
            Run::Data { raw_length, compressed_length, digest } => {
                let image_offset = self.image_offset;
                let piece_size = u64::from(self.piece_size);
                self.advance(raw_length.into(), piece_size - image_offset % piece_size)?;
                let max = max_compressed_length(raw_length);
                if !(1..=max).contains(&compressed_length) {
                    let found = compressed_length;
                    return Err(EncodeError::Frame { image_offset, most: max, found });
                }
                self.end_hole()?;
                let kind = FrameKind::Data;
                self.add_frame(Entry { kind, raw_length, compressed_length, digest })
            }
        }
    }

    fn add_zeros(&mut self, length: u64) -> Result<(), EncodeError> {
        self.advance(length, self.image_size)?;
        self.hole += length;
        while self.hole >= MAX_HOLE_LENGTH.into() {
            self.hole -= u64::from(MAX_HOLE_LENGTH);
            self.add_hole_frame(MAX_HOLE_LENGTH)?;
        }
        Ok(())
    }

    /// Advances by a run of `length` bytes, at most `max`. Only the last run may end inside a block.
    fn advance(&mut self, length: u64, max: u64) -> Result<(), EncodeError> {
        let rest = self.image_size - self.image_offset;
        let max = max.min(rest);
        let is_whole = length == rest || length.is_multiple_of(BLOCK_SIZE.into());
        if length == 0 || length > max || !is_whole {
            let image_offset = self.image_offset;
            return Err(EncodeError::Run { image_offset, most: max, found: length });
        }
        self.image_offset += length;
        Ok(())
    }

    /// Adds the frame of the hole at the end of the runs, if there is one.
    fn end_hole(&mut self) -> Result<(), EncodeError> {
        match core::mem::take(&mut self.hole) as u32 {
            0 => Ok(()),
            hole => self.add_hole_frame(hole),
        }
    }

    fn add_hole_frame(&mut self, raw_length: u32) -> Result<(), EncodeError> {
        let start = self.output.len();
        self.holes.write(raw_length, &mut self.output);
        let bytes = &self.output[start..];
        self.add_frame(Entry {
            kind: FrameKind::Hole,
            raw_length,
            compressed_length: bytes.len() as u32,
            digest: Digest::of(bytes),
        })
    }

    fn add_frame(&mut self, entry: Entry) -> Result<(), EncodeError> {
        if self.entries.len() == MAX_FRAMES as usize {
            return Err(EncodeError::Frames);
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Returns the end of the file: the last hole, the manifest, and the seek table.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::Length`] if the runs do not cover the image, [`EncodeError::Frames`], or
    /// the error of an earlier call.
    pub fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.image_offset != self.image_size {
            let (expected, found) = (self.image_size, self.image_offset);
            return Err(EncodeError::Length { expected, found });
        }
        self.output.clear();
        self.end_hole()?;
        let mut out = core::mem::take(&mut self.output);
        out.reserve_exact(tail_length(self.entries.len() as u32) as usize);
        self.write_manifest(&mut out);
        let lengths = self.entries.iter().map(|entry| [entry.compressed_length, entry.raw_length]);
        seek_table::write(lengths, &mut out);
        Ok(out)
    }

    fn write_manifest(&self, out: &mut Vec<u8>) {
        let frames = self.entries.len() as u32;
        Skippable::Manifest.write(manifest_length(frames), out);
        let start = out.len();
        let (piece_size, image_size) = (self.piece_size, self.image_size);
        out.extend(Head { piece_size, image_size, frames }.to_bytes());
        self.entries.iter().for_each(|entry| out.extend(entry.to_bytes()));
        let digest = Digest::of(&out[start..]);
        out.extend(digest.as_bytes());
    }
}
