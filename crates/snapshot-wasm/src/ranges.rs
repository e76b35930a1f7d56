//! The ranges of a file to request.

use hedgerow_snapshot::{Frame, ranges};
use wasm_bindgen::prelude::*;

use crate::frame_record::{FrameRecord, from_record};

/// Cuts a file into ranges that cover the wanted frames.
#[wasm_bindgen]
pub struct RangeCutter {
    record: FrameRecord,
    wanted: Vec<Frame>,
    ranges: Vec<[u32; 2]>,
}

#[wasm_bindgen]
impl RangeCutter {
    /// Creates a cutter without wanted frames.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has constructors only")]
    pub fn new() -> Self {
        Self { record: [0; 8], wanted: Vec::new(), ranges: Vec::new() }
    }

    /// Returns the address to write the record of the next wanted frame to.
    pub fn record(&self) -> *const FrameRecord {
        &raw const self.record
    }

    /// Adds the frame whose record was written.
    pub fn push(&mut self) {
        self.wanted.push(from_record(&self.record));
    }

    /// Cuts the file into ranges of at most `part_size` bytes. Returns their number.
    pub fn cut(&mut self, part_size: u32) -> usize {
        let cut = ranges(&self.wanted, part_size);
        self.ranges = cut.map(|range| [range.start as u32, range.end as u32]).collect();
        self.ranges.len()
    }

    /// Returns the address of the ranges: the index of the first frame and of the frame after the last,
    /// as 32-bit numbers.
    pub fn ranges(&self) -> *const [u32; 2] {
        self.ranges.as_ptr()
    }
}
