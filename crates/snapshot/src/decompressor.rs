//! The decoder for frames that are complete in memory.

use alloc::vec::Vec;

use zstd_safe::{
    DCtx, DParameter, find_frame_compressed_size, get_error_name, get_frame_content_size,
};

use crate::entry::check_lengths;
use crate::field::{Field, Fields};
use crate::format_error::{Fault, FormatError};
use crate::frame::{Frame, FrameKind};
use crate::hole::{HoleWriter, MAGIC, hole_frame_length};
use crate::limits::{MAX_HOLE_LENGTH, MAX_PIECE_SIZE};
use crate::out_of_memory::OutOfMemory;

/// Decodes frames that are complete in memory.
///
/// Use it to receive several frames at a time into your own buffers. A [`Decoder`](crate::Decoder)
/// also buffers a frame until it is complete. Nothing is allocated after construction. An error does
/// not affect the next frame.
///
/// # Example
///
/// ```
/// # use hedgerow_snapshot::{Encoder, Manifest, Options, PieceEncoder};
/// use hedgerow_snapshot::Decompressor;
///
/// # let options = Options::default();
/// # let mut encoder = Encoder::new(5, &options)?;
/// # let mut file = encoder.header();
/// # let mut pieces = PieceEncoder::new(&options)?;
/// # for (run, bytes) in pieces.encode(b"hedge")? {
/// #     file.extend(encoder.push(&run)?);
/// #     file.extend(bytes);
/// # }
/// # file.extend(encoder.finish()?);
/// let manifest = Manifest::parse(&file, file.len() as u64)?;
/// let frame = &manifest.frames()[0];
/// let start = frame.file_offset as usize;
/// let bytes = &file[start..start + frame.compressed_length as usize];
///
/// let mut data = vec![0; frame.raw_length as usize];
/// Decompressor::new(manifest.piece_size())?.decompress(frame, bytes, &mut data)?;
/// assert_eq!(data, b"hedge");
/// # Ok::<_, Box<dyn core::error::Error>>(())
/// ```
pub struct Decompressor {
    zstd: DCtx<'static>,
    piece_size: u32,
    holes: HoleWriter,
    hole: Vec<u8>,
}

impl Decompressor {
    /// Creates a decompressor for frames of up to `piece_size` bytes of data. Allocates 110 KiB. Values
    /// above [`MAX_PIECE_SIZE`] count as that.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the allocation fails.
    pub fn new(piece_size: u32) -> Result<Self, OutOfMemory> {
        Ok(Self {
            zstd: DCtx::try_create().ok_or(OutOfMemory)?,
            piece_size: piece_size.min(MAX_PIECE_SIZE),
            holes: HoleWriter::new(),
            hole: Vec::with_capacity(hole_frame_length(MAX_HOLE_LENGTH) as usize),
        })
    }

    /// Disables the check of the content checksum in zstd frames, which takes a tenth of the time. The
    /// digest already covers the frame, so only a faulty writer produces a wrong checksum.
    #[must_use]
    pub fn without_checksums(mut self) -> Self {
        // If this failed, checksums would still be checked.
        let _ = self.zstd.set_parameter(DParameter::ForceIgnoreChecksum(true));
        self
    }

    /// Returns the maximum number of bytes of data in a frame.
    pub fn piece_size(&self) -> u32 {
        self.piece_size
    }

    /// Checks the lengths of a frame. Call this before allocating memory for the frame.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if a length of the frame is beyond the limits of the format or of
    /// this decompressor.
    pub fn check(&self, frame: &Frame) -> Result<(), FormatError> {
        let raw = field("raw length", frame).with(frame.raw_length);
        let compressed = field("compressed length", frame).with(frame.compressed_length);
        check_lengths(frame.kind, raw, compressed, self.piece_size)
    }

    /// Decodes `bytes`, which must be the whole frame, into `out`, whose length must be the
    /// [`raw_length`](Frame::raw_length) of the frame. For a hole, `out` may also be empty.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if the frame fails [`check`](Self::check), if `bytes` has another
    /// length or digest than the frame, if they are not exactly one zstd frame of this raw length, or
    /// if `out` has another length. The content of `out` is then unspecified.
    pub fn decompress(
        &mut self,
        frame: &Frame,
        bytes: &[u8],
        out: &mut [u8],
    ) -> Result<(), FormatError> {
        self.check(frame)?;
        let whole = field("frame", frame);
        whole.with(bytes.len() as u64).is(frame.compressed_length)?;
        whole.has_digest(bytes, frame.digest)?;
        if frame.kind == FrameKind::Data || !out.is_empty() {
            field("buffer for the frame", frame).with(out.len() as u64).is(frame.raw_length)?;
        }
        match frame.kind {
            FrameKind::Data => self.decompress_data(frame, bytes, out),
            FrameKind::Hole => self.check_hole(frame, bytes, out),
        }
    }

    fn decompress_data(
        &mut self,
        frame: &Frame,
        bytes: &[u8],
        out: &mut [u8],
    ) -> Result<(), FormatError> {
        let whole = field("frame", frame);
        let zstd = |code| whole.fails(Fault::Zstd(get_error_name(code)));
        let mut magic = Fields::of_frame(bytes, frame.file_offset, frame.index);
        magic.number("magic number of the frame", 4).is_magic(MAGIC)?;
        // zstd would also decompress a second frame after the first one.
        let length = find_frame_compressed_size(bytes).map_err(zstd)?;
        field("length of the zstd frame", frame).with(length as u64).is(frame.compressed_length)?;
        let size = get_frame_content_size(bytes).ok().flatten();
        let size = size.ok_or(whole.fails(Fault::Zstd("no content size")))?;
        field("content size of the frame", frame).with(size).is(frame.raw_length)?;
        let decoded = self.zstd.decompress(out, bytes).map_err(zstd)?;
        field("decoded length of the frame", frame).with(decoded as u64).is(frame.raw_length)
    }

    fn check_hole(
        &mut self,
        frame: &Frame,
        bytes: &[u8],
        out: &mut [u8],
    ) -> Result<(), FormatError> {
        self.hole.clear();
        self.holes.write(frame.raw_length, &mut self.hole);
        out.fill(0);
        if self.hole == bytes { Ok(()) } else { Err(field("frame", frame).fails(Fault::Hole)) }
    }
}

/// Returns a field of a frame, for errors.
pub(crate) const fn field(name: &'static str, frame: &Frame) -> Field {
    Field::of_frame(name, frame.index, frame.file_offset)
}
