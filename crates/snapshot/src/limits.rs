//! The limits of the format, which writers keep and readers check.

/// The unit of lengths and offsets in an image, in bytes. Only the end of the image may be unaligned.
pub const BLOCK_SIZE: u32 = 1 << 12;

/// The minimum piece size in bytes.
pub const MIN_PIECE_SIZE: u32 = BLOCK_SIZE;

/// The maximum piece size in bytes. A reader needs memory for a piece and for its frame.
pub const MAX_PIECE_SIZE: u32 = 1 << 24;

/// The minimum length of a hole inside a piece, in bytes. Shorter runs of zeros are part of a data
/// frame, where they take less space than a separate frame.
pub const MIN_HOLE_LENGTH: u32 = 1 << 16;

/// The maximum length of a hole in one frame, in bytes. It bounds the time to decode a frame.
pub const MAX_HOLE_LENGTH: u32 = 1 << 26;

/// The maximum number of frames of a snapshot, including holes. A reader needs memory for the tail of
/// the file, at 52 bytes per frame, and for 64 bytes per frame of its own: at most 116 MiB.
pub const MAX_FRAMES: u32 = 1 << 20;

/// The maximum image size in bytes: [`MAX_FRAMES`] of [`MAX_PIECE_SIZE`].
pub const MAX_IMAGE_SIZE: u64 = 1 << 44;

/// The minimum compression level, which is the fastest.
pub const MIN_LEVEL: i32 = 1;

/// The maximum compression level, which is the strongest.
pub const MAX_LEVEL: i32 = 19;

/// The maximum number of base objects of a delta.
pub const MAX_BASE_OBJECTS: u32 = 8;

/// The maximum length of the reference to a base object, in bytes. S3 allows keys of this length.
pub const MAX_REFERENCE_LENGTH: u32 = 1 << 10;

/// The maximum number of mappings of a delta. A reader needs 12 bytes for each in the tail, and 16
/// of its own: at most 112 MiB.
pub const MAX_MAPPINGS: u32 = 1 << 22;
