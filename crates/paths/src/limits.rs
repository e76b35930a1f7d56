//! What a filter may be at most. But for the rates, the same limits hold for reading and for building.

/// The most bits a filter may have: about 128 million paths at a rate of 1e-7, in 716 MB.
pub const MAX_BITS: u32 = u32::MAX;

/// The most bits a key may have: enough for the smallest rate.
pub const MAX_HASHES: u32 = 64;

/// The largest seed and the largest number of keys: what a JavaScript number holds exactly.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The longest first line, in bytes, without its line end.
pub const MAX_HEADER_LENGTH: usize = 1 << 16;

/// How deep values may be nested in the first line.
pub const MAX_DEPTH: u32 = 32;

/// The depth of wildcard keys that a filter tells apart: it stands for any depth from there on.
pub const MAX_WILDCARD_DEPTH: u32 = 64;

/// The smallest false-positive rate that can be asked for.
pub const MIN_FALSE_POSITIVE_RATE: f64 = 1e-18;

/// The largest false-positive rate that can be asked for.
pub const MAX_FALSE_POSITIVE_RATE: f64 = 0.5;
