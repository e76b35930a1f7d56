//! The limits of a filter. Except for those of the rate, they hold for reading and for building.

/// The maximum number of bits of a filter: about 128 million paths at a rate of 1e-7, in 716 MB.
pub const MAX_BITS: u32 = u32::MAX;

/// The maximum number of bits per key: enough for the smallest rate.
pub const MAX_HASHES: u32 = 64;

/// The maximum number of slots of a fuse filter: about 238 million paths, in 1 GiB.
pub const MAX_SLOTS: u32 = 1 << 28;

/// The maximum length of a segment of a fuse filter, in slots. Two slots of a key take 32 bits of its
/// hash.
pub const MAX_SEGMENT_LENGTH: u32 = 1 << 16;

/// The maximum seed and the maximum number of keys: the largest integer up to which JavaScript
/// numbers are exact.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The maximum length of the first line in bytes, without its line end.
pub const MAX_HEADER_LENGTH: usize = 1 << 16;

/// The maximum nesting depth of values in the first line.
pub const MAX_DEPTH: u32 = 32;

/// The maximum depth of wildcard keys in the first line. It stands for that depth and any greater
/// one.
pub const MAX_WILDCARD_DEPTH: u32 = 64;

/// The minimum false-positive rate of a builder.
pub const MIN_FALSE_POSITIVE_RATE: f64 = 1e-18;

/// The maximum false-positive rate of a builder.
pub const MAX_FALSE_POSITIVE_RATE: f64 = 0.5;
