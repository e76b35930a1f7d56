//! The errors of creating a snapshot.

use core::fmt;

use crate::limits::{
    BLOCK_SIZE, MAX_BASE_OBJECTS, MAX_FRAMES, MAX_IMAGE_SIZE, MAX_LEVEL, MAX_MAPPINGS,
    MAX_PIECE_SIZE, MIN_LEVEL, MIN_PIECE_SIZE,
};
use crate::out_of_memory::OutOfMemory;

/// The error of creating a snapshot.
///
/// [`Display`](fmt::Display) writes what was expected and what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The compression level is outside [`MIN_LEVEL`] to [`MAX_LEVEL`].
    Level {
        /// The requested level.
        found: i32,
    },
    /// The piece size is not a power of two from [`MIN_PIECE_SIZE`] to [`MAX_PIECE_SIZE`].
    PieceSize {
        /// The requested size in bytes.
        found: u32,
    },
    /// The image is larger than [`MAX_IMAGE_SIZE`].
    ImageSize {
        /// Size of the image in bytes.
        found: u64,
    },
    /// A piece is longer than the piece size.
    Piece {
        /// The piece size in bytes.
        most: u32,
        /// Length of the piece in bytes.
        found: u64,
    },
    /// A run is empty, extends beyond its piece, its frame or the image, or ends inside a block that is not
    /// the last one of the image; or no run uses a frame of its piece.
    Run {
        /// Offset of the run in the image, in bytes.
        image_offset: u64,
        /// Maximum length of the run in bytes.
        most: u64,
        /// Length of the run in bytes.
        found: u64,
    },
    /// A frame is empty, or longer than [`max_compressed_length`](crate::max_compressed_length).
    Frame {
        /// Offset of the frame's run in the image, in bytes.
        image_offset: u64,
        /// Maximum length of the frame in bytes.
        most: u32,
        /// Length of the frame in bytes.
        found: u32,
    },
    /// The image needs more than [`MAX_FRAMES`] frames. Larger pieces need fewer.
    Frames,
    /// The runs do not cover the image. Those of a delta must cover the last block of the base if it is
    /// incomplete and the image has grown.
    Length {
        /// Size of the image in bytes.
        expected: u64,
        /// Total length of the runs, or size of the base's image, in bytes.
        found: u64,
    },
    /// The piece size of a delta differs from that of its base.
    BasePieceSize {
        /// The piece size of the base in bytes.
        expected: u32,
        /// The requested size in bytes.
        found: u32,
    },
    /// A delta would have more than [`MAX_BASE_OBJECTS`] base objects.
    BaseObjects {
        /// The number of base objects.
        found: u32,
    },
    /// A delta would have more than [`MAX_MAPPINGS`] mappings.
    Mappings,
    /// The references to base objects are invalid, or there are more or fewer of them than base objects.
    Reference,
    /// Memory allocation failed.
    OutOfMemory,
    /// The zstd library returned an error.
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
                "frame at byte {image_offset} of the image: expected 1 to {most} bytes, found {found}",
            ),
            Self::Frames => {
                write!(f, "expected at most {MAX_FRAMES} frames, found more; use larger pieces")
            }
            Self::Length { expected, found } => {
                write!(f, "image: expected {expected} bytes, found {found}")
            }
            Self::BasePieceSize { expected, found } => {
                write!(f, "piece size: expected {expected}, as in the base, found {found}")
            }
            Self::BaseObjects { found } => {
                write!(f, "expected at most {MAX_BASE_OBJECTS} base objects, found {found}")
            }
            Self::Mappings => {
                write!(f, "expected at most {MAX_MAPPINGS} mappings, found more; create a full snapshot")
            }
            Self::Reference => f.write_str(
                "references: expected one for each base object, empty or a relative path without empty \
                 segments, \".\", \"..\", \"\\\", \":\" and control characters, found others",
            ),
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
