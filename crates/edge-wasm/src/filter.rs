//! Path filters for JavaScript.
//!
//! Only numbers cross the boundary. JavaScript reads the first line of a file, and writes the characters
//! of the second line and the paths to buffers in linear memory.

use alloc::vec::Vec;

use hedgerow_paths::{Query, first_illegal};
use wasm_bindgen::prelude::*;

use crate::key_buffer::KeyBuffer;

/// Maximum unused capacity that a filter keeps after its characters, in bytes.
const SLACK: usize = 1024;

/// The second line of a filter file, and the query that reads it in place.
#[wasm_bindgen]
pub struct Filter {
    body: Vec<u8>,
    query: Option<Query>,
    key: KeyBuffer,
}

#[wasm_bindgen]
impl Filter {
    /// Creates a filter without characters.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no other way")]
    pub fn new() -> Self {
        Self { body: Vec::new(), query: None, key: KeyBuffer::default() }
    }

    /// Grows the buffer for characters to `length` bytes, and keeps the bytes already written. Returns
    /// its address, or null if the allocation fails.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        let more = length.saturating_sub(self.body.len());
        if self.body.try_reserve_exact(more).is_err() {
            return core::ptr::null();
        }
        self.body.resize(self.body.len() + more, 0);
        self.body.as_ptr()
    }

    /// Returns the position of the first of `length` characters that is not Base64, or -1 if there is
    /// none.
    pub fn first_illegal(&self, length: usize) -> i32 {
        let body = self.body.get(..length).unwrap_or_default();
        first_illegal(body).map_or(-1, |position| position as i32)
    }

    /// Ends the buffer after `length` characters, and sets the numbers of the first line: of a fuse
    /// filter `m`, `l`, `q` and `s`, of a Bloom filter `m`, `k` instead of `l`, and `s`. Returns whether
    /// they are within their limits.
    pub fn open(&mut self, length: usize, is_fuse: bool, m: u32, l: u32, q: f64, s: f64) -> bool {
        self.body.truncate(length);
        if self.body.capacity() - self.body.len() > SLACK {
            self.body.shrink_to_fit();
        }
        let s = s as u64;
        self.query = if is_fuse { Query::fuse(m, l, q as u64, s) } else { Query::bloom(m, l, s) };
        self.query.is_some()
    }

    /// Replaces the buffer for paths by one of `length` bytes. Returns its address, or null if the
    /// allocation fails.
    pub fn reserve_key(&mut self, length: usize) -> *const u8 {
        self.key.reserve(length)
    }

    /// Returns whether the filter may have the path of `length` bytes in the buffer.
    pub fn has(&self, length: usize) -> bool {
        self.query.as_ref().is_some_and(|query| query.has(&self.body, self.key.key(length)))
    }
}
