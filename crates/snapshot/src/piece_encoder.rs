//! The encoder for pieces, which finds holes and compresses the data between them.

use alloc::vec::Vec;
use core::ops::Range;

use zstd_safe::{CCtx, CParameter, get_error_name};

use crate::digest::Digest;
use crate::encode_error::EncodeError;
use crate::layout::max_compressed_length;
use crate::limits::{BLOCK_SIZE, MIN_HOLE_LENGTH};
use crate::options::Options;
use crate::out_of_memory::buffer;
use crate::runs::runs;

/// The minimum length of a hole inside a piece, in blocks.
pub(crate) const MIN_HOLE_BLOCKS: usize = (MIN_HOLE_LENGTH / BLOCK_SIZE) as usize;

/// A run of the image: a data frame, or zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// A data frame.
    Data {
        /// Length in the image, in bytes.
        raw_length: u32,
        /// Length in the file, in bytes.
        compressed_length: u32,
        /// Digest of the frame's bytes in the file.
        digest: Digest,
    },
    /// Zeros, for which the [`Encoder`](crate::Encoder) writes hole frames.
    Zeros {
        /// Number of zeros, up to the size of the image. Pushing one TiB takes 33 MB of memory.
        length: u64,
    },
}

/// Encodes pieces of an image: finds their holes and compresses the data between them.
///
/// Pieces are independent, so several threads, each with its own encoder, can encode them in any
/// order.
///
/// # Example
///
/// ```
/// use hedgerow_snapshot::{Options, PieceEncoder, Run};
///
/// let mut pieces = PieceEncoder::new(&Options::default())?;
/// let mut piece = vec![0; 1 << 20];
/// piece[..5].copy_from_slice(b"hedge");
/// let runs: Vec<(Run, &[u8])> = pieces.encode(&piece)?.collect();
/// assert!(matches!(runs[0].0, Run::Data { raw_length: 4096, .. }));
/// assert_eq!(runs[1], (Run::Zeros { length: (1 << 20) - 4096 }, &[][..]));
/// # Ok::<_, hedgerow_snapshot::EncodeError>(())
/// ```
pub struct PieceEncoder {
    compressor: CCtx<'static>,
    piece_size: u32,
    runs: Vec<Run>,
    compressed: Vec<u8>,
}

impl PieceEncoder {
    /// Creates an encoder. With pieces of 1 MiB it takes 2.3 MiB of memory at level 3 and 20 MiB at
    /// level 19; the maximum is 100 MiB. At least half of it is allocated with the first piece.
    ///
    /// # Errors
    ///
    /// Returns an [`EncodeError`] if an option is beyond its limit or an allocation fails.
    pub fn new(options: &Options) -> Result<Self, EncodeError> {
        options.check()?;
        let mut compressor = CCtx::try_create().ok_or(EncodeError::OutOfMemory)?;
        for parameter in
            [CParameter::CompressionLevel(options.level), CParameter::ChecksumFlag(true)]
        {
            compressor.set_parameter(parameter).map_err(rejected)?;
        }
        Ok(Self {
            compressor,
            piece_size: options.piece_size,
            runs: Vec::new(),
            // Enough for several frames too: the holes between them are longer than the maximum
            // overhead of a frame.
            compressed: buffer(max_compressed_length(options.piece_size))?,
        })
    }

    /// Encodes a piece: [`piece_size`](Options::piece_size) bytes of the image at a multiple of that
    /// size, or the rest of the image. Returns its runs, each with its bytes in the file.
    ///
    /// Zeros are a separate run if there are at least [`MIN_HOLE_LENGTH`], or if they are the whole
    /// piece.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::Piece`] if the piece is longer than the piece size, and
    /// [`EncodeError::Zstd`] if an allocation fails.
    pub fn encode(
        &mut self,
        piece: &[u8],
    ) -> Result<impl Iterator<Item = (Run, &[u8])>, EncodeError> {
        self.encode_runs(piece, runs(piece, MIN_HOLE_BLOCKS))
    }
}

impl PieceEncoder {
    /// Encodes a piece whose runs are known.
    pub(crate) fn encode_runs(
        &mut self,
        piece: &[u8],
        runs: impl Iterator<Item = (Range<usize>, bool)>,
    ) -> Result<impl Iterator<Item = (Run, &[u8])>, EncodeError> {
        if piece.len() > self.piece_size as usize {
            let found = piece.len() as u64;
            return Err(EncodeError::Piece { most: self.piece_size, found });
        }
        self.runs.clear();
        let mut end = 0;
        for (range, is_zero) in runs {
            if is_zero {
                self.runs.push(Run::Zeros { length: range.len() as u64 });
                continue;
            }
            let (run, length) = self.compress_at(end, &piece[range])?;
            self.runs.push(run);
            end += length;
        }
        let mut rest = &self.compressed[..end];
        Ok(self.runs.iter().map(move |run| {
            let length = match run {
                Run::Data { compressed_length, .. } => *compressed_length,
                Run::Zeros { .. } => 0,
            };
            let (bytes, after) = rest.split_at(length as usize);
            rest = after;
            (*run, bytes)
        }))
    }

    /// Compresses up to [`piece_size`](Options::piece_size) bytes to one frame.
    pub(crate) fn compress(&mut self, raw: &[u8]) -> Result<(Run, &[u8]), EncodeError> {
        let (run, length) = self.compress_at(0, raw)?;
        Ok((run, &self.compressed[..length]))
    }

    /// Compresses bytes to a frame, which is put at `start` in the buffer. Returns its length, too.
    fn compress_at(&mut self, start: usize, raw: &[u8]) -> Result<(Run, usize), EncodeError> {
        let max = max_compressed_length(raw.len() as u32) as usize;
        let out = &mut self.compressed[start..start + max];
        let length = self.compressor.compress2(out, raw).map_err(rejected)?;
        let run = Run::Data {
            raw_length: raw.len() as u32,
            compressed_length: length as u32,
            digest: Digest::of(&out[..length]),
        };
        Ok((run, length))
    }
}

fn rejected(code: zstd_safe::ErrorCode) -> EncodeError {
    EncodeError::Zstd(get_error_name(code))
}
