//! Getting the data of a whole frame back.

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

/// Decodes frames that lie whole in memory, wherever that is: for those who receive several at a time.
/// [`Decoder`](crate::Decoder) also keeps what there is of one until it is whole.
///
/// Nothing is allocated after construction. A frame that was refused does not matter to the next one.
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
    /// Takes the memory that frames of up to `piece_size` bytes of data need: 110 KiB. There are no
    /// frames of more than [`MAX_PIECE_SIZE`], however large it is.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if there is not as much.
    pub fn new(piece_size: u32) -> Result<Self, OutOfMemory> {
        Ok(Self {
            zstd: DCtx::try_create().ok_or(OutOfMemory)?,
            piece_size: piece_size.min(MAX_PIECE_SIZE),
            holes: HoleWriter::new(),
            hole: Vec::with_capacity(hole_frame_length(MAX_HOLE_LENGTH) as usize),
        })
    }

    /// Passes over the checksum that zstd's frames have of their content, which takes a tenth of the
    /// time. The digest has vouched for the frame; a wrong checksum in it is a fault of its writer.
    #[must_use]
    pub fn without_checksums(mut self) -> Self {
        // If it were refused, checksums would be looked at as before.
        let _ = self.zstd.set_parameter(DParameter::ForceIgnoreChecksum(true));
        self
    }

    /// The most bytes of data that a frame may have.
    pub fn piece_size(&self) -> u32 {
        self.piece_size
    }

    /// Whether a frame may be as long as its manifest says, which is to be asked before there is memory
    /// for it.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if the frame is longer than any, or than this was made for.
    pub fn check(&self, frame: &Frame) -> Result<(), FormatError> {
        let raw = field("raw length", frame).with(frame.raw_length);
        let compressed = field("compressed length", frame).with(frame.compressed_length);
        check_lengths(frame.kind, raw, compressed, self.piece_size)
    }

    /// Decodes a frame that is `bytes` into `out`, which is as long as its
    /// [`raw_length`](Frame::raw_length) says. Of a hole, which is nothing but zeros, `out` may also be
    /// empty.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if bytes are missing, if their digest is another, if they are not one zstd frame
    /// of this length, or if `out` has another one. What is in `out` then is undefined.
    pub fn decompress(
        &mut self,
        frame: &Frame,
        bytes: &[u8],
        out: &mut [u8],
    ) -> Result<(), FormatError> {
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
        // zstd's decompressor would go on with a frame behind the first one.
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

/// The field of a frame that an error is about.
pub(crate) const fn field(name: &'static str, frame: &Frame) -> Field {
    Field::of_frame(name, frame.index, frame.file_offset)
}
