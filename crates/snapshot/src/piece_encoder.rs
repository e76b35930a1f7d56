//! Finding the holes of a piece, and compressing what is between them.

use alloc::vec::Vec;

use zstd_safe::{CCtx, CParameter, get_error_name};

use crate::digest::Digest;
use crate::encode_error::EncodeError;
use crate::layout::max_compressed_length;
use crate::limits::{BLOCK_SIZE, MIN_HOLE_LENGTH};
use crate::options::Options;
use crate::out_of_memory::buffer;
use crate::runs::runs;

/// A run of the image: a frame of data, or zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// A frame of data.
    Data {
        /// How long it is in the image, in bytes.
        raw_length: u32,
        /// How long it is in the file, in bytes.
        compressed_length: u32,
        /// The digest of its bytes in the file.
        digest: Digest,
    },
    /// Zeros, whose frames the [`Encoder`](crate::Encoder) makes.
    Zeros {
        /// How many they are: as many as the image has, if need be. While they are pushed, a TiB takes
        /// 33 MB of memory.
        length: u64,
    },
}

/// Finds the holes of pieces, and compresses what is between them. Pieces do not depend on each other:
/// each of many threads may have an encoder of its own, and takes the next piece that no one has taken.
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
    /// Takes the memory that it needs: 2.3 MiB at level 3 with pieces of 1 MiB, 20 MiB at level 19, and 100
    /// MiB at most. Half of it or more is taken with the first piece.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if an option is beyond a limit, or if there is no memory.
    pub fn new(options: &Options) -> Result<Self, EncodeError> {
        options.check()?;
        let mut compressor = CCtx::try_create().ok_or(EncodeError::OutOfMemory)?;
        for parameter in
            [CParameter::CompressionLevel(options.level), CParameter::ChecksumFlag(true)]
        {
            compressor.set_parameter(parameter).map_err(refused)?;
        }
        Ok(Self {
            compressor,
            piece_size: options.piece_size,
            runs: Vec::new(),
            // Several frames need no more than one: the holes between them are longer than what each
            // of them may need beyond what it holds.
            compressed: buffer(max_compressed_length(options.piece_size))?,
        })
    }

    /// Compresses a piece: [`piece_size`](Options::piece_size) bytes of the image from a multiple of it,
    /// or what is left at its end. Returns its runs, each with its bytes in the file.
    ///
    /// Zeros are a run of their own if they are [`MIN_HOLE_LENGTH`] or all of the piece.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Piece`] if the piece is longer than the options say, and [`EncodeError::Zstd`] if
    /// there is no memory.
    pub fn encode(
        &mut self,
        piece: &[u8],
    ) -> Result<impl Iterator<Item = (Run, &[u8])>, EncodeError> {
        if piece.len() > self.piece_size as usize {
            let (most, found) = (self.piece_size, piece.len() as u64);
            return Err(EncodeError::Piece { most, found });
        }
        self.runs.clear();
        let mut end = 0;
        for (range, is_zero) in runs(piece, (MIN_HOLE_LENGTH / BLOCK_SIZE) as usize) {
            if is_zero {
                self.runs.push(Run::Zeros { length: range.len() as u64 });
                continue;
            }
            let raw = &piece[range];
            let most = max_compressed_length(raw.len() as u32) as usize;
            let out = &mut self.compressed[end..end + most];
            let length = self.compressor.compress2(out, raw).map_err(refused)?;
            self.runs.push(Run::Data {
                raw_length: raw.len() as u32,
                compressed_length: length as u32,
                digest: Digest::of(&out[..length]),
            });
            end += length;
        }
        let mut rest = &self.compressed[..end];
        Ok(self.runs.iter().map(move |run| {
            let length = match run {
                Run::Data { compressed_length, .. } => *compressed_length,
                Run::Zeros { .. } => 0,
            };
            let (bytes, behind) = rest.split_at(length as usize);
            rest = behind;
            (*run, bytes)
        }))
    }
}

fn refused(code: zstd_safe::ErrorCode) -> EncodeError {
    EncodeError::Zstd(get_error_name(code))
}
