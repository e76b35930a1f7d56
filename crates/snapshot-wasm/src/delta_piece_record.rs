//! The record of a piece of a delta in linear memory.

/// A piece in 16 bytes: its first block in the image, as a 64-bit floating-point number, and its numbers of
/// frames and of runs.
pub(crate) type DeltaPieceRecord = [u32; 4];

pub(crate) fn to_record(block: f64, frames: usize, runs: usize) -> DeltaPieceRecord {
    let bits = block.to_bits();
    [bits as u32, (bits >> 32) as u32, frames as u32, runs as u32]
}

pub(crate) fn from_record(&[low, high, frames, runs]: &DeltaPieceRecord) -> (u64, usize, usize) {
    let block = f64::from_bits(u64::from(low) | u64::from(high) << 32);
    (block as u64, frames as usize, runs as usize)
}
