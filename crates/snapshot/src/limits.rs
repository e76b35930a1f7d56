//! The limits of the format, which writers keep and readers check.

/// What lengths and offsets in an image are multiples of, in bytes; only its end may be none.
pub const BLOCK_SIZE: u32 = 1 << 12;

/// The smallest piece of an image that is a frame of its own, in bytes.
pub const MIN_PIECE_SIZE: u32 = BLOCK_SIZE;

/// The largest piece of an image that is a frame of its own, in bytes: what a reader must have memory
/// for, twice.
pub const MAX_PIECE_SIZE: u32 = 1 << 24;

/// The shortest run of zeros inside a piece that is a hole, in bytes. A shorter one stays in its
/// frame, where it takes no room worth a frame.
pub const MIN_HOLE_LENGTH: u32 = 1 << 16;

/// The longest hole that is one frame, in bytes, so that readers which decode it are soon done.
pub const MAX_HOLE_LENGTH: u32 = 1 << 26;

/// The most frames of one snapshot, holes counted. A reader must have memory for the end of the file,
/// with 52 bytes a frame, and for 64 bytes a frame of its own: 116 MiB at most.
pub const MAX_FRAMES: u32 = 1 << 20;

/// The largest image, in bytes: [`MAX_FRAMES`] of [`MAX_PIECE_SIZE`].
pub const MAX_IMAGE_SIZE: u64 = 1 << 44;

/// The fastest level of compression.
pub const MIN_LEVEL: i32 = 1;

/// The strongest level of compression.
pub const MAX_LEVEL: i32 = 19;
