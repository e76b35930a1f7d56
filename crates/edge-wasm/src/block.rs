//! Stripping of field blocks for JavaScript.
//!
//! Only numbers cross the boundary. Bytes are in a buffer in linear memory that JavaScript writes and
//! reads.

use alloc::vec::Vec;

use hedgerow_headers::{Fault, HeaderSet, HeaderSetBuilder, Mode, Spelling};
use wasm_bindgen::prelude::*;

/// Sentinel for "no value".
const NONE: u32 = u32::MAX;

/// A set of rules, and the buffer that JavaScript writes.
#[wasm_bindgen]
pub struct BlockStripper {
    builder: HeaderSetBuilder,
    set: HeaderSet<'static>,
    buffer: Vec<u8>,
    numbers: [u32; 4],
    fault: Fault,
}

#[wasm_bindgen]
impl BlockStripper {
    /// Creates a stripper without rules: an allow-list if it `keeps` what they match, and otherwise
    /// one that also strips equivalent spellings unless it `is_exact`.
    #[wasm_bindgen(constructor)]
    pub fn new(keeps: bool, is_exact: bool) -> Self {
        let builder = if keeps {
            HeaderSetBuilder::with_mode(Mode::Keep)
        } else {
            let spelling = if is_exact { Spelling::Exact } else { Spelling::Equivalent };
            HeaderSetBuilder::with_spelling(spelling)
        };
        let (set, buffer) = (HeaderSetBuilder::new().build(), Vec::new());
        Self { builder, set, buffer, numbers: [0; 4], fault: Fault::default() }
    }

    /// Makes room for `length` bytes. Returns the address to write them to, or null if the allocation
    /// fails. A length of 0 frees the memory.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        if length > self.buffer.len() || length == 0 {
            self.buffer = Vec::new();
            if self.buffer.try_reserve_exact(length).is_err() {
                return core::ptr::null();
            }
            self.buffer.resize(length, 0);
        }
        self.buffer.as_ptr()
    }

    /// Adds the rule of `length` bytes in the buffer. Returns whether the bytes are a rule, and otherwise
    /// records a fault. Call `build` after the last one.
    pub fn add(&mut self, length: usize) -> bool {
        match self.builder.rule_bytes(self.buffer.get(..length).unwrap_or_default()) {
            Ok(_) => true,
            Err(error) => {
                self.fault = error.fault();
                false
            }
        }
    }

    /// Compiles the rules that were added. Call it once: before, `strip` strips nothing.
    pub fn build(&mut self) {
        self.set = core::mem::take(&mut self.builder).build();
    }

    /// Strips the field block of `length` bytes in the buffer. Returns the length of the rest, or
    /// returns -1 and records a fault if the block is rejected.
    pub fn strip(&mut self, length: usize) -> i32 {
        match self.set.strip_block(self.buffer.get_mut(..length).unwrap_or_default()) {
            Ok(length) => length as i32,
            Err(error) => {
                self.fault = error.fault();
                -1
            }
        }
    }

    /// Returns the address of four numbers that describe the last fault: the address and the length of
    /// the message, the byte that was found, and the offset. The last two are `u32::MAX` if there are
    /// none.
    pub fn fault(&mut self) -> *const u32 {
        let fault = self.fault;
        self.numbers = [
            fault.message.as_ptr() as u32,
            fault.message.len() as u32,
            fault.byte.map_or(NONE, u32::from),
            fault.offset.map_or(NONE, |offset| offset as u32),
        ];
        self.numbers.as_ptr()
    }
}
