//! The encoder for pieces of a delta, which finds the blocks that changed and compresses them.

use alloc::vec::Vec;
use core::ops::Range;

use crate::encode_error::EncodeError;
use crate::limits::BLOCK_SIZE;
use crate::options::Options;
use crate::out_of_memory::buffer;
use crate::piece_encoder::{MIN_HOLE_BLOCKS, PieceEncoder, Run};
use crate::runs::{is_same, is_zero, runs, runs_of};

const BLOCK: usize = BLOCK_SIZE as usize;

/// Consecutive blocks of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaRun {
    /// Blocks that are as in the base.
    Unchanged {
        /// Number of blocks.
        blocks: u32,
    },
    /// Zeros.
    Zeros {
        /// Number of blocks.
        blocks: u32,
    },
    /// Blocks of a new frame.
    Data {
        /// Number of blocks.
        blocks: u32,
        /// Number of the frame in the piece.
        frame: u32,
        /// The first block of that frame's data.
        block: u32,
    },
}

/// A piece of a delta: its new frames, and the runs of blocks that cover it.
#[derive(Clone, Copy, Debug)]
pub struct DeltaPiece<'a> {
    /// The frames, each a [`Run::Data`].
    pub frames: &'a [Run],
    /// The runs, in order. They cover the whole piece.
    pub runs: &'a [DeltaRun],
    /// The bytes of all frames, concatenated.
    pub bytes: &'a [u8],
}

/// The blocks of a piece that are as in the base, in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchanged {
    /// All of them are zeros.
    Zeros,
    /// Some may be data.
    Data,
}

/// Encodes pieces of an image as pieces of a delta.
///
/// Blocks of zeros become runs of zeros; all other changed blocks of a piece are gathered in one frame, so
/// that scattered changes do not make many small ones. A piece without any data of the base is divided as
/// [`PieceEncoder`] does, so that a full snapshot can take its frames as they are.
///
/// # Example
///
/// ```
/// use hedgerow_snapshot::{DeltaPieceEncoder, DeltaRun, Options};
///
/// let mut pieces = DeltaPieceEncoder::new(&Options::default())?;
/// let base = vec![1; 1 << 20];
/// let mut piece = base.clone();
/// piece[4096..8192].fill(2);
/// let delta = pieces.encode(&piece, Some(&base), &[0..256])?;
/// assert_eq!(delta.runs, [
///     DeltaRun::Unchanged { blocks: 1 },
///     DeltaRun::Data { blocks: 1, frame: 0, block: 0 },
///     DeltaRun::Unchanged { blocks: 254 },
/// ]);
/// # Ok::<_, hedgerow_snapshot::EncodeError>(())
/// ```
pub struct DeltaPieceEncoder {
    encoder: PieceEncoder,
    gathered: Vec<u8>,
    kinds: Vec<Kind>,
    frames: Vec<Run>,
    runs: Vec<DeltaRun>,
    bytes: Vec<u8>,
}

/// The kind of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unchanged,
    Zeros,
    Data,
}

impl DeltaPieceEncoder {
    /// Creates an encoder. It takes two piece sizes of memory more than a [`PieceEncoder`].
    ///
    /// # Errors
    ///
    /// Returns an [`EncodeError`] if an option is beyond its limit or an allocation fails.
    pub fn new(options: &Options) -> Result<Self, EncodeError> {
        Ok(Self {
            encoder: PieceEncoder::new(options)?,
            gathered: buffer(options.piece_size)?,
            kinds: Vec::new(),
            frames: Vec::new(),
            runs: Vec::new(),
            bytes: Vec::new(),
        })
    }

    /// Encodes a piece: [`piece_size`](Options::piece_size) bytes of the image at a multiple of that size,
    /// or the rest of the image.
    ///
    /// `candidates` are the blocks of the piece that may have changed; all others are as in the base. The
    /// ranges may overlap, and be in any order. Candidates are compared with `base`, the same bytes of the
    /// base's image; without it, and beyond its end, they count as changed.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::Piece`] if the piece is longer than the piece size, and
    /// [`EncodeError::Zstd`] if an allocation fails.
    pub fn encode(
        &mut self,
        piece: &[u8],
        base: Option<&[u8]>,
        candidates: &[Range<u32>],
    ) -> Result<DeltaPiece<'_>, EncodeError> {
        self.start(piece)?;
        self.classify(piece, base, candidates);
        let mut blocks = piece.chunks(BLOCK).zip(&self.kinds);
        let is_new = self.kinds.contains(&Kind::Data)
            && blocks.all(|(block, kind)| *kind != Kind::Unchanged || is_zero(block));
        if is_new {
            self.encode_whole(piece)?
        } else {
            self.gather(piece)?
        }
        Ok(DeltaPiece { frames: &self.frames, runs: &self.runs, bytes: &self.bytes })
    }

    /// Encodes a piece of which only the blocks that changed are at hand: the others of `piece` may hold
    /// anything, and parts of them are overwritten. Takes no time for them.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_changed(
        &mut self,
        piece: &mut [u8],
        changed: &[Range<u32>],
        unchanged: Unchanged,
    ) -> Result<DeltaPiece<'_>, EncodeError> {
        self.start(piece)?;
        self.classify(piece, None, changed);
        if unchanged == Unchanged::Zeros && self.kinds.contains(&Kind::Data) {
            self.encode_among_zeros(piece)?
        } else {
            self.gather(piece)?
        }
        Ok(DeltaPiece { frames: &self.frames, runs: &self.runs, bytes: &self.bytes })
    }

    fn start(&mut self, piece: &[u8]) -> Result<(), EncodeError> {
        if piece.len() > self.gathered.len() {
            let (most, found) = (self.gathered.len() as u32, piece.len() as u64);
            return Err(EncodeError::Piece { most, found });
        }
        self.frames.clear();
        self.runs.clear();
        self.bytes.clear();
        Ok(())
    }

    /// Determines the kind of each block.
    fn classify(&mut self, piece: &[u8], base: Option<&[u8]>, candidates: &[Range<u32>]) {
        self.kinds.clear();
        self.kinds.resize(piece.len().div_ceil(BLOCK), Kind::Unchanged);
        let base = base.unwrap_or_default();
        for range in candidates {
            for at in range.start as usize..(range.end as usize).min(self.kinds.len()) {
                let block = block_at(piece, at);
                if !is_same(block, block_at(base, at)) {
                    self.kinds[at] = if is_zero(block) { Kind::Zeros } else { Kind::Data };
                }
            }
        }
    }

    /// Encodes the piece as a piece of a full snapshot.
    fn encode_whole(&mut self, piece: &[u8]) -> Result<(), EncodeError> {
        self.encode_runs(piece, runs(piece, MIN_HOLE_BLOCKS))
    }

    /// Does the same if all blocks are zeros that are not data.
    fn encode_among_zeros(&mut self, piece: &mut [u8]) -> Result<(), EncodeError> {
        let kinds = core::mem::take(&mut self.kinds);
        let runs: Vec<_> =
            runs_of(piece.len(), MIN_HOLE_BLOCKS, |at| kinds[at] != Kind::Data).collect();
        for (range, _) in runs.iter().filter(|(_, is_zero)| !is_zero) {
            for (block, kind) in
                piece[range.clone()].chunks_mut(BLOCK).zip(&kinds[range.start / BLOCK..])
            {
                if *kind != Kind::Data {
                    block.fill(0);
                }
            }
        }
        self.kinds = kinds;
        self.encode_runs(piece, runs.into_iter())
    }

    fn encode_runs(
        &mut self,
        piece: &[u8],
        runs: impl Iterator<Item = (Range<usize>, bool)>,
    ) -> Result<(), EncodeError> {
        for (run, bytes) in self.encoder.encode_runs(piece, runs)? {
            match run {
                Run::Zeros { length } => {
                    self.runs
                        .push(DeltaRun::Zeros { blocks: length.div_ceil(BLOCK as u64) as u32 });
                }
                Run::Data { raw_length, .. } => {
                    let (blocks, frame) =
                        (raw_length.div_ceil(BLOCK_SIZE), self.frames.len() as u32);
                    self.runs.push(DeltaRun::Data { blocks, frame, block: 0 });
                    self.frames.push(run);
                    self.bytes.extend(bytes);
                }
            }
        }
        Ok(())
    }

    /// Gathers the changed blocks that are data in one frame.
    fn gather(&mut self, piece: &[u8]) -> Result<(), EncodeError> {
        let (mut rest, mut length) = (piece, 0);
        for kinds in self.kinds.chunk_by(PartialEq::eq) {
            let blocks = kinds.len() as u32;
            let (bytes, after) = rest.split_at(rest.len().min(kinds.len() * BLOCK));
            rest = after;
            self.runs.push(match kinds[0] {
                Kind::Unchanged => DeltaRun::Unchanged { blocks },
                Kind::Zeros => DeltaRun::Zeros { blocks },
                Kind::Data => {
                    let block = (length / BLOCK) as u32;
                    self.gathered[length..length + bytes.len()].copy_from_slice(bytes);
                    length += bytes.len();
                    DeltaRun::Data { blocks, frame: 0, block }
                }
            });
        }
        if length > 0 {
            let (run, bytes) = self.encoder.compress(&self.gathered[..length])?;
            self.frames.push(run);
            self.bytes.extend(bytes);
        }
        Ok(())
    }
}

/// Returns a block of `bytes`, which is empty beyond their end.
fn block_at(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at * BLOCK..).unwrap_or_default();
    &rest[..rest.len().min(BLOCK)]
}
