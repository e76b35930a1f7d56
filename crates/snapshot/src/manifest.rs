//! The manifest, which lists the frames of a snapshot.

use alloc::vec::Vec;
use core::ops::Range;

use crate::digest::Digest;
use crate::entry::Entry;
use crate::field::{Field, Fields};
use crate::format_error::FormatError;
use crate::frame::{Frame, FrameKind};
use crate::header::{check_header, check_version};
use crate::layout::{
    ENTRY_LENGTH, FOOTER_LENGTH, HEAD_LENGTH, HEADER_LENGTH, SKIPPABLE_LENGTH, VERSION,
    manifest_length, tail_length,
};
use crate::limits::BLOCK_SIZE;
use crate::manifest_head::HeadFields;
use crate::ranges::ranges;
use crate::seek_table;
use crate::skippable::Skippable;

/// The manifest of a snapshot: its frames, with their places in the file and in the image.
///
/// A parsed manifest is consistent: values that the file has twice were compared, and all values are
/// within the limits of this crate.
///
/// # Example
///
/// ```
/// use hedgerow_snapshot::{Encoder, Manifest, Options, PieceEncoder};
///
/// let image = b"a very small disk";
/// let options = Options::default();
/// let mut encoder = Encoder::new(image.len() as u64, &options)?;
/// let mut file = encoder.header();
/// let mut pieces = PieceEncoder::new(&options)?;
/// for (run, bytes) in pieces.encode(image)? {
///     file.extend(encoder.push(&run)?);
///     file.extend(bytes);
/// }
/// file.extend(encoder.finish()?);
///
/// // One request for the end of the file is enough to plan a restore.
/// let size = file.len() as u64;
/// let footer = file.last_chunk().unwrap();
/// let tail = Manifest::tail_length(footer, size)?;
/// let manifest = Manifest::parse(&file[file.len() - tail as usize..], size)?;
/// assert_eq!(manifest.image_size(), 17);
/// assert_eq!(manifest.frames()[0].raw_length, 17);
/// # Ok::<_, Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    image_size: u64,
    piece_size: u32,
    file_size: u64,
    frames: Vec<Frame>,
    identity: Digest,
}

impl Manifest {
    /// Length of the footer, from which [`tail_length`](Self::tail_length) computes the length of the
    /// tail, in bytes.
    pub const FOOTER_LENGTH: usize = FOOTER_LENGTH;

    /// Length of the header, in bytes.
    pub const HEADER_LENGTH: usize = HEADER_LENGTH;

    /// Checks that a file begins as a snapshot or a delta of a version that this crate knows. Call this
    /// first, to report a file of a later version as such.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if the file is not a snapshot, or is of another version.
    pub fn check_version(header: &[u8; Self::HEADER_LENGTH]) -> Result<(), FormatError> {
        check_version(header).map(drop)
    }

    /// Returns the length of the tail, which holds the manifest and the seek table, in bytes.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if the footer is not that of a snapshot of this size.
    pub fn tail_length(
        footer: &[u8; Self::FOOTER_LENGTH],
        file_size: u64,
    ) -> Result<u64, FormatError> {
        let size = Field::new("file size", file_size).with(file_size);
        size.is_at_least(HEADER_LENGTH as u64 + tail_length(0))?;
        let frames = seek_table::frame_count(footer, file_size - FOOTER_LENGTH as u64)?;
        size.is_at_least(HEADER_LENGTH as u64 + tail_length(frames))?;
        Ok(tail_length(frames))
    }

    /// Parses the manifest from the last bytes of a file, at least
    /// [`tail_length`](Self::tail_length) of them.
    ///
    /// Allocates 64 bytes per frame, of which there are at most [`MAX_FRAMES`](crate::MAX_FRAMES).
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if `docs/vhs.md` requires a reader to reject the file.
    ///
    /// # Complexity
    ///
    /// Linear in the length of the tail.
    pub fn parse(tail: &[u8], file_size: u64) -> Result<Self, FormatError> {
        let found = tail.len() as u64;
        let size = Field::new("tail", file_size.saturating_sub(found)).with(found);
        size.is_at_least(FOOTER_LENGTH as u64)?;
        let footer = tail.last_chunk().unwrap_or(&[0; FOOTER_LENGTH]);
        let length = Self::tail_length(footer, file_size)?;
        size.is_at_least(length)?;

        let offset = file_size - length;
        let frames = seek_table::frame_count(footer, file_size - FOOTER_LENGTH as u64)?;
        let tail = &tail[tail.len() - length as usize..];
        let (manifest, table) =
            tail.split_at((SKIPPABLE_LENGTH + manifest_length(frames)) as usize);
        let read = Self::read(manifest, offset, frames, file_size)?;
        let lengths = read.frames.iter().map(|frame| [frame.compressed_length, frame.raw_length]);
        seek_table::check(table, offset + manifest.len() as u64, lengths)?;
        Ok(read)
    }

    /// Reads the manifest from its frame, which is at `offset` in the file.
    fn read(
        manifest: &[u8],
        offset: u64,
        frames: u32,
        file_size: u64,
    ) -> Result<Self, FormatError> {
        let mut fields = Fields::new(manifest, offset);
        let length = Skippable::Manifest.check_magic(&mut fields)?;
        let head_fields = HeadFields::read(&mut fields);
        head_fields.check_version()?;
        length.is(manifest_length(frames))?;
        let (content, digest) = manifest.split_at(manifest.len() - Digest::LENGTH);
        let digest_offset = offset + content.len() as u64;
        let identity = Fields::new(digest, digest_offset).digest();
        let digested = &content[SKIPPABLE_LENGTH as usize..];
        Field::new("digest of the manifest", digest_offset).has_digest(digested, identity)?;

        let head = head_fields.check(frames)?;
        let mut manifest = Self {
            image_size: head.image_size,
            piece_size: head.piece_size,
            file_size,
            frames: Vec::with_capacity(frames as usize),
            identity,
        };
        let (entries, _) = digested[HEAD_LENGTH..].as_chunks::<ENTRY_LENGTH>();
        let entries_offset = offset + SKIPPABLE_LENGTH + HEAD_LENGTH as u64;
        manifest.read_entries(entries, entries_offset)?;
        head_fields.image_size.is(manifest.image_end())?;
        Field::new("offset of the manifest", offset).with(offset).is(manifest.file_end())?;
        Ok(manifest)
    }

    /// Reads the entries, which are at `offset` in the file.
    fn read_entries(
        &mut self,
        entries: &[[u8; ENTRY_LENGTH]],
        mut offset: u64,
    ) -> Result<(), FormatError> {
        for (index, bytes) in (0..).zip(entries) {
            let mut fields = Fields::of_frame(bytes, offset, index);
            let unit = if self.frames.len() + 1 < entries.len() { BLOCK_SIZE } else { 1 };
            let entry = Entry::read(&mut fields, self.piece_size, unit)?;
            self.frames.push(Frame {
                kind: entry.kind,
                index,
                image_offset: self.image_end(),
                raw_length: entry.raw_length,
                file_offset: self.file_end(),
                compressed_length: entry.compressed_length,
                digest: entry.digest,
            });
            offset += ENTRY_LENGTH as u64;
        }
        Ok(())
    }

    /// Returns the end of the frames read so far, in the image.
    fn image_end(&self) -> u64 {
        self.frames.last().map_or(0, |last| last.image_offset + u64::from(last.raw_length))
    }

    /// Returns the end of the frames read so far, in the file.
    fn file_end(&self) -> u64 {
        self.frames.last().map_or(HEADER_LENGTH as u64, |last| {
            last.file_offset + u64::from(last.compressed_length)
        })
    }

    /// Checks the header of the file against the manifest.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if they disagree.
    pub fn check_header(&self, bytes: &[u8; Self::HEADER_LENGTH]) -> Result<(), FormatError> {
        check_header(bytes, VERSION, self.image_size, self.piece_size)
    }

    /// Returns the size of the image in bytes.
    pub fn image_size(&self) -> u64 {
        self.image_size
    }

    /// Returns the piece size: the maximum number of bytes of the image in a data frame.
    pub fn piece_size(&self) -> u32 {
        self.piece_size
    }

    /// Returns the size of the file in bytes.
    pub fn file_size(&self) -> u64 {
        self.file_size
    }

    /// Returns the frames, in the order of the image, without gaps.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Consumes the manifest and returns its frames.
    pub fn into_frames(self) -> Vec<Frame> {
        self.frames
    }

    /// Returns the number of bytes of the image in data frames.
    pub fn data_size(&self) -> u64 {
        let data = self.frames.iter().filter(|frame| frame.kind == FrameKind::Data);
        data.map(|frame| u64::from(frame.raw_length)).sum()
    }

    /// Returns the digest of the manifest, which is the identity of the snapshot. Compare it with a
    /// known identity to make sure that the file is that snapshot.
    pub fn identity(&self) -> Digest {
        self.identity
    }

    /// Returns the frame with the byte at `image_offset`, or `None` beyond the end of the image.
    ///
    /// # Complexity
    ///
    /// O(log *n*) for *n* frames.
    pub fn frame_at(&self, image_offset: u64) -> Option<&Frame> {
        let after = self.frames.partition_point(|frame| frame.image_offset <= image_offset);
        let last = self.frames[..after].last()?;
        (image_offset < self.image_size).then_some(last)
    }

    /// Cuts the file into [ranges](crate::ranges) to request that cover all data frames. A range has at
    /// most `part_size` bytes, unless a single frame is longer.
    pub fn ranges(&self, part_size: u32) -> impl Iterator<Item = Range<usize>> {
        ranges(self.frames.iter().filter(|frame| frame.kind == FrameKind::Data), part_size)
    }
}
