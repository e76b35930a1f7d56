//! Hole frames: zstd frames of RLE blocks, whose bytes are determined by their length.

use alloc::vec::Vec;
use core::hash::Hasher;

use twox_hash::XxHash64;

use crate::limits::MAX_HOLE_LENGTH;

/// The magic number of a zstd frame.
pub(crate) const MAGIC: u32 = 0xFD2F_B528;

/// The frame header descriptor: a content size of four bytes, a window, and a checksum.
const DESCRIPTOR: u8 = 0b1000_0100;

/// Maximum size of a block, and size of the window, in bytes.
const BLOCK: u32 = 1 << 17;

/// The window descriptor for [`BLOCK`] bytes: 2^(10 + 7).
const WINDOW: u8 = 7 << 3;

/// The type of a block that repeats one byte.
const RLE: u32 = 1 << 1;

const LAST: u32 = 1;

const HEADER_LENGTH: u32 = 10;
const BLOCK_LENGTH: u32 = 4;
const CHECKSUM_LENGTH: u32 = 4;

/// Returns the length of the frame of a hole of `raw_length` bytes.
pub(crate) const fn hole_frame_length(raw_length: u32) -> u32 {
    HEADER_LENGTH + raw_length.div_ceil(BLOCK) * BLOCK_LENGTH + CHECKSUM_LENGTH
}

/// Writes hole frames.
pub(crate) struct HoleWriter {
    /// States of the checksum after every 2^20 zeros, computed on demand.
    states: Vec<XxHash64>,
}

const ZEROS: [u8; 1 << 12] = [0; 1 << 12];
const STEP: u32 = 1 << 20;

impl HoleWriter {
    /// Creates a writer, and allocates all the memory it needs.
    pub(crate) fn new() -> Self {
        Self { states: Vec::with_capacity((MAX_HOLE_LENGTH / STEP) as usize + 1) }
    }

    /// Appends the frame of a hole of `raw_length` bytes: 1 to [`MAX_HOLE_LENGTH`].
    pub(crate) fn write(&mut self, raw_length: u32, out: &mut Vec<u8>) {
        debug_assert!((1..=MAX_HOLE_LENGTH).contains(&raw_length));
        out.reserve(hole_frame_length(raw_length) as usize);
        out.extend(MAGIC.to_le_bytes());
        out.extend([DESCRIPTOR, WINDOW]);
        out.extend(raw_length.to_le_bytes());
        let mut rest = raw_length;
        while rest > 0 {
            let size = rest.min(BLOCK);
            rest -= size;
            let last = if rest == 0 { LAST } else { 0 };
            let [low, middle, high, _] = (size << 3 | RLE | last).to_le_bytes();
            out.extend([low, middle, high, 0]);
        }
        out.extend(self.checksum(raw_length).to_le_bytes());
    }

    /// Returns the zstd checksum of `length` zeros: the low half of their XXH64.
    fn checksum(&mut self, length: u32) -> u32 {
        let steps = (length / STEP) as usize;
        while self.states.len() <= steps {
            let next = match self.states.last() {
                None => XxHash64::with_seed(0),
                Some(state) => after_zeros(state, STEP),
            };
            self.states.push(next);
        }
        after_zeros(&self.states[steps], length % STEP).finish() as u32
    }
}

/// Returns the state of a checksum after `length` more zeros.
fn after_zeros(state: &XxHash64, mut length: u32) -> XxHash64 {
    let mut state = state.clone();
    while length > 0 {
        let step = length.min(ZEROS.len() as u32);
        state.write(&ZEROS[..step as usize]);
        length -= step;
    }
    state
}
