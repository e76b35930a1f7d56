//! The ranges of a file that are to be asked for.

use hedgerow_snapshot::{Frame, ranges};
use wasm_bindgen::prelude::*;

use crate::frame_record::{FrameRecord, from_record};

/// Cuts a file into ranges that have all frames which are wanted.
#[wasm_bindgen]
pub struct RangeCutter {
    record: FrameRecord,
    wanted: Vec<Frame>,
    ranges: Vec<[u32; 2]>,
}

#[wasm_bindgen]
impl RangeCutter {
    /// Nothing is wanted yet.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has constructors only")]
    pub fn new() -> Self {
        Self { record: [0; 8], wanted: Vec::new(), ranges: Vec::new() }
    }

    /// Where the record of the next frame belongs that is wanted.
    pub fn record(&self) -> *const FrameRecord {
        &raw const self.record
    }

    /// Takes the frame whose record was written.
    pub fn push(&mut self) {
        self.wanted.push(from_record(&self.record));
    }

    /// Cuts the file into ranges of at most `part_size` bytes. Returns how many they are.
    pub fn cut(&mut self, part_size: u32) -> usize {
        let cut = ranges(&self.wanted, part_size);
        self.ranges = cut.map(|range| [range.start as u32, range.end as u32]).collect();
        self.ranges.len()
    }

    /// Where the ranges lie: two numbers of 32 bits each, the index of the first frame, and of the one behind
    /// the last.
    pub fn ranges(&self) -> *const [u32; 2] {
        self.ranges.as_ptr()
    }
}
