//! The decoder for frames that arrive in parts.

use alloc::vec::Vec;

use crate::decompressor::Decompressor;
use crate::field::Field;
use crate::format_error::{Fault, FormatError};
use crate::frame::Frame;
use crate::hole::hole_frame_length;
use crate::layout::max_compressed_length;
use crate::limits::MAX_HOLE_LENGTH;
use crate::out_of_memory::{OutOfMemory, buffer};

/// Decodes frames one by one, each from parts of any size as they arrive.
///
/// A frame is decoded once it is complete and its digest matches, so unverified bytes never reach the
/// decompressor. Nothing is allocated after construction. An error does not affect the next frame.
///
/// To receive several frames at a time, use a [`Decompressor`](crate::Decompressor).
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
    /// Creates a decoder for frames of up to `piece_size` bytes of data. Allocates slightly more than
    /// that, and 110 KiB. Values above [`MAX_PIECE_SIZE`](crate::MAX_PIECE_SIZE) count as that.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the allocation fails.
    pub fn new(piece_size: u32) -> Result<Self, OutOfMemory> {
        let decompressor = Decompressor::new(piece_size)?;
        let longest = max_compressed_length(decompressor.piece_size());
        let input = buffer(longest.max(hole_frame_length(MAX_HOLE_LENGTH)))?;
        Ok(Self { decompressor, input, filled: 0, frame: None })
    }

    /// Disables the check of the content checksum in zstd frames, which takes a tenth of the time. The
    /// digest already covers the frame, so only a faulty writer produces a wrong checksum.
    #[must_use]
    pub fn without_checksums(mut self) -> Self {
        self.decompressor = self.decompressor.without_checksums();
        self
    }

    /// Begins a frame, and discards the previous one if it is incomplete.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if a length of the frame is beyond the limits of the format or of
    /// this decoder.
    pub fn begin(&mut self, frame: &Frame) -> Result<(), FormatError> {
        self.frame = None;
        self.filled = 0;
        self.decompressor.check(frame)?;
        self.frame = Some(*frame);
        Ok(())
    }

    /// Returns the buffer for the missing bytes of the frame. After writing to it, call
    /// [`filled`](Self::filled). The buffer is empty if no frame was begun.
    pub fn missing(&mut self) -> &mut [u8] {
        let end = self.frame.map_or(0, |frame| frame.compressed_length as usize);
        &mut self.input[self.filled..end]
    }

    /// Records that `count` bytes were written to [`missing`](Self::missing). A greater count than the
    /// length of that buffer counts as its length.
    pub fn filled(&mut self, count: usize) {
        self.filled += count.min(self.missing().len());
    }

    /// Copies the next bytes of the frame. Returns how many of `bytes` belong to it.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let missing = self.missing();
        let count = bytes.len().min(missing.len());
        missing[..count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        count
    }

    /// Decodes the frame into `out`, whose length must be the [`raw_length`](Frame::raw_length) of the
    /// frame. For a hole, `out` may also be empty.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if no frame was begun, if bytes are missing, if their digest differs,
    /// if they are not exactly one zstd frame of this raw length, or if `out` has another length. The
    /// content of `out` is then unspecified.
    pub fn finish(&mut self, out: &mut [u8]) -> Result<(), FormatError> {
        let filled = core::mem::take(&mut self.filled);
        let Some(frame) = self.frame.take() else {
            return Err(Field::new("frame", 0).fails(Fault::NotBegun));
        };
        self.decompressor.decompress(&frame, &self.input[..filled], out)
    }
}
