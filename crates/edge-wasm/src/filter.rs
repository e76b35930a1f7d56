//! Path filters for JavaScript.
//!
//! Only numbers cross the boundary. JavaScript writes the file and the paths to buffers in linear
//! memory.

use alloc::vec::Vec;

use hedgerow_paths::{FormatError, Found, PathFilter};
use wasm_bindgen::prelude::*;

use crate::key_buffer::KeyBuffer;

/// Sentinel for "no value".
const NONE: f64 = -1.0;

/// Maximum unused capacity that a filter keeps after its file, in bytes.
const SLACK: usize = 1024;

/// A filter file that is being loaded, then the filter parsed from it in place.
#[wasm_bindgen]
pub struct Filter {
    file: Vec<u8>,
    filter: Option<PathFilter<'static>>,
    key: KeyBuffer,
    numbers: [f64; 6],
}

#[wasm_bindgen]
impl Filter {
    /// Creates a filter without a file.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no other way")]
    pub fn new() -> Self {
        let (file, key) = (Vec::new(), KeyBuffer::default());
        Self { file, filter: None, key, numbers: [0.0; 6] }
    }

    /// Grows the buffer for the file to `length` bytes, and keeps the bytes already written. Returns
    /// its address, or null if the allocation fails.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        let more = length.saturating_sub(self.file.len());
        if self.file.try_reserve_exact(more).is_err() {
            return core::ptr::null();
        }
        self.file.resize(self.file.len() + more, 0);
        self.file.as_ptr()
    }

    /// Parses the first `length` bytes of the file. Returns the address of six numbers.
    ///
    /// On success they begin with the address and the length of the first line and the depth of
    /// wildcards. If the file is rejected, the first number is 0, and the others are the address and
    /// the length of what was expected, its count, what was found, and the offset. The file is then
    /// kept, so that more bytes can be appended.
    ///
    /// The count is -1 if there is none. The found value is a number ≥ 0, -1 for the end, or -2 minus
    /// the byte.
    pub fn parse(&mut self, length: usize, is_trusted: bool) -> *const f64 {
        let mut file = core::mem::take(&mut self.file);
        file.truncate(length);
        if file.capacity() - file.len() > SLACK {
            file.shrink_to_fit();
        }
        match PathFilter::from_vec(file, is_trusted) {
            Ok(filter) => {
                let header = filter.header();
                self.numbers[0] = header.as_ptr() as usize as f64;
                self.numbers[1] = header.len() as f64;
                self.numbers[2] = f64::from(filter.wildcards());
                self.filter = Some(filter);
            }
            Err((error, file)) => {
                self.file = file;
                let FormatError { count, expected, found, offset, .. } = error;
                self.numbers[0] = 0.0;
                self.numbers[1] = expected.as_ptr() as usize as f64;
                self.numbers[2] = expected.len() as f64;
                self.numbers[3] = count.map_or(NONE, |count| count as f64);
                self.numbers[4] = match found {
                    Found::Byte(byte) => -2.0 - f64::from(byte),
                    Found::Number(number) => number as f64,
                    Found::End => NONE,
                };
                self.numbers[5] = offset as f64;
            }
        }
        self.numbers.as_ptr()
    }

    /// Replaces the buffer for paths by one of `length` bytes. Returns its address, or null if the
    /// allocation fails.
    pub fn reserve_key(&mut self, length: usize) -> *const u8 {
        self.key.reserve(length)
    }

    /// Returns whether the filter may have the path of `length` bytes in the buffer.
    pub fn has(&self, length: usize) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.has(self.key.key(length)))
    }
}
