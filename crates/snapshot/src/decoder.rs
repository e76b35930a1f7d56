//! Getting the data of a frame back.

use alloc::vec::Vec;

use crate::decompressor::Decompressor;
use crate::field::Field;
use crate::format_error::{Fault, FormatError};
use crate::frame::Frame;
use crate::hole::hole_frame_length;
use crate::layout::max_compressed_length;
use crate::limits::MAX_HOLE_LENGTH;
use crate::out_of_memory::{OutOfMemory, buffer};

/// Decodes one frame after the other, each from pieces of any size as they arrive.
///
/// A frame is decoded when all of it is there and its digest is right, so that bytes that no one has
/// vouched for never reach the decompressor. Nothing is allocated after construction. A frame that was
/// refused does not matter to the next one.
///
/// # Example
///
/// ```
/// # use hedgerow_snapshot::{Encoder, Manifest, Options, PieceEncoder};
/// use hedgerow_snapshot::Decoder;
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
/// # let manifest = Manifest::parse(&file, file.len() as u64)?;
/// let mut decoder = Decoder::new(manifest.piece_size())?;
/// let mut image = vec![0; manifest.image_size() as usize];
/// for frame in manifest.frames() {
///     decoder.begin(frame)?;
///     for arrived in file[frame.file_offset as usize..].chunks(3) {
///         if decoder.push(arrived) < 3 {
///             break;
///         }
///     }
///     let start = frame.image_offset as usize;
///     decoder.finish(&mut image[start..start + frame.raw_length as usize])?;
/// }
/// assert_eq!(image, b"hedge");
/// # Ok::<_, Box<dyn core::error::Error>>(())
/// ```
pub struct Decoder {
    decompressor: Decompressor,
    input: Vec<u8>,
    filled: usize,
    frame: Option<Frame>,
}

impl Decoder {
    /// Takes the memory that frames of up to `piece_size` bytes of data need: little more than that,
    /// and 110 KiB. There are no frames of more than [`MAX_PIECE_SIZE`](crate::MAX_PIECE_SIZE), however
    /// large it is.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if there is not as much.
    pub fn new(piece_size: u32) -> Result<Self, OutOfMemory> {
        let decompressor = Decompressor::new(piece_size)?;
        let longest = max_compressed_length(decompressor.piece_size());
        let input = buffer(longest.max(hole_frame_length(MAX_HOLE_LENGTH)))?;
        Ok(Self { decompressor, input, filled: 0, frame: None })
    }

    /// Passes over the checksum that zstd's frames have of their content, which takes a tenth of the
    /// time. The digest has vouched for the frame; a wrong checksum in it is a fault of its writer.
    #[must_use]
    pub fn without_checksums(mut self) -> Self {
        self.decompressor = self.decompressor.without_checksums();
        self
    }

    /// Begins a frame. What there was of another one is forgotten.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if the frame is longer than any, or than the decoder was made for.
    pub fn begin(&mut self, frame: &Frame) -> Result<(), FormatError> {
        self.frame = None;
        self.filled = 0;
        self.decompressor.check(frame)?;
        self.frame = Some(*frame);
        Ok(())
    }

    /// Where the bytes of the frame that are still missing belong. [`filled`](Self::filled) says that
    /// they are there. Of no frame, none are missing.
    pub fn missing(&mut self) -> &mut [u8] {
        let end = self.frame.map_or(0, |frame| frame.compressed_length as usize);
        &mut self.input[self.filled..end]
    }

    /// Counts bytes that were written to [`missing`](Self::missing), or as many of them as were missing.
    pub fn filled(&mut self, count: usize) {
        self.filled += count.min(self.missing().len());
    }

    /// Takes the next bytes of the frame, and returns how many of them belong to it.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let missing = self.missing();
        let count = bytes.len().min(missing.len());
        missing[..count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        count
    }

    /// Decodes the frame into `out`, which is as long as its [`raw_length`](Frame::raw_length) says. Of
    /// a hole, which is nothing but zeros, `out` may also be empty.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if no frame was begun, if bytes are missing, if their digest is another, if they
    /// are not one zstd frame of this length, or if `out` has another one. What is in `out` then is
    /// undefined.
    pub fn finish(&mut self, out: &mut [u8]) -> Result<(), FormatError> {
        let filled = core::mem::take(&mut self.filled);
        let Some(frame) = self.frame.take() else {
            return Err(Field::new("frame", 0).fails(Fault::NotBegun));
        };
        self.decompressor.decompress(&frame, &self.input[..filled], out)
    }
}
