//! Why a snapshot could not be made.

use core::fmt;

use crate::limits::{
    BLOCK_SIZE, MAX_FRAMES, MAX_IMAGE_SIZE, MAX_LEVEL, MAX_PIECE_SIZE, MIN_LEVEL, MIN_PIECE_SIZE,
};
use crate::out_of_memory::OutOfMemory;

/// Why a snapshot could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A level of compression beyond [`MIN_LEVEL`] and [`MAX_LEVEL`].
    Level {
        /// The level that was asked for.
        found: i32,
    },
    /// A piece size that is no power of two from [`MIN_PIECE_SIZE`] to [`MAX_PIECE_SIZE`].
    PieceSize {
        /// The size that was asked for, in bytes.
        found: u32,
    },
    /// An image of more than [`MAX_IMAGE_SIZE`] bytes.
    ImageSize {
        /// The size of the image, in bytes.
        found: u64,
    },
    /// A piece that is longer than the options say.
    Piece {
        /// The size of pieces, in bytes.
        most: u32,
        /// How long the piece is, in bytes.
        found: u64,
    },
    /// A run that is empty, that goes beyond its piece or beyond the image, or that ends inside a block
    /// before the image does.
    Run {
        /// Where the run begins in the image, in bytes.
        image_offset: u64,
        /// How long it may be, in bytes.
        most: u64,
        /// How long it is, in bytes.
        found: u64,
    },
    /// A frame that is longer in the file than what it stands for needs, or that is empty.
    Frame {
        /// Where its run begins in the image, in bytes.
        image_offset: u64,
        /// How long it may be, in bytes.
        most: u32,
        /// How long it is, in bytes.
        found: u32,
    },
    /// More than [`MAX_FRAMES`] frames: larger pieces make fewer of them.
    Frames,
    /// Runs that are not as long as the image.
    Length {
        /// The size of the image, in bytes.
        expected: u64,
        /// How far the runs go, in bytes.
        found: u64,
    },
    /// There is no memory.
    OutOfMemory,
    /// The zstd library failed.
    Zstd(&'static str),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level { found } => {
                write!(f, "level: expected {MIN_LEVEL} to {MAX_LEVEL}, found {found}")
            }
            Self::PieceSize { found } => write!(
                f,
                "piece size: expected a power of two from {MIN_PIECE_SIZE} to {MAX_PIECE_SIZE}, \
                 found {found}",
            ),
            Self::ImageSize { found } => {
                write!(f, "image: expected at most {MAX_IMAGE_SIZE} bytes, found {found}")
            }
            Self::Piece { most, found } => {
                write!(f, "piece: expected at most {most} bytes, found {found}")
            }
            Self::Run { image_offset, most, found } => write!(
                f,
                "run at byte {image_offset} of the image: expected 1 to {most} bytes, in blocks of \
                 {BLOCK_SIZE}, found {found}",
            ),
            Self::Frame { image_offset, most, found } => write!(
                f,
                "frame of byte {image_offset} of the image: expected 1 to {most} bytes, found {found}",
            ),
            Self::Frames => {
                write!(f, "expected at most {MAX_FRAMES} frames, found more: choose larger pieces")
            }
            Self::Length { expected, found } => {
                write!(f, "image: expected {expected} bytes, found {found}")
            }
            Self::OutOfMemory => OutOfMemory.fmt(f),
            Self::Zstd(reason) => write!(f, "zstd: {reason}"),
        }
    }
}

impl core::error::Error for EncodeError {}

impl From<OutOfMemory> for EncodeError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}
