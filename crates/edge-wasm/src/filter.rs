//! Path filters for JavaScript.
//!
//! Only numbers cross the border. The file and the paths that are asked for lie in buffers in linear
//! memory that JavaScript writes.

use alloc::vec::Vec;

use hedgerow_paths::{FormatError, Found, PathFilter};
use wasm_bindgen::prelude::*;

use crate::key_buffer::KeyBuffer;

/// What stands for a number that there is not.
const NONE: f64 = -1.0;

/// How many bytes of memory beyond its file a filter may keep.
const SLACK: usize = 1024;

/// A file that is being loaded, and then the filter that is read from it where it lies.
#[wasm_bindgen]
pub struct Filter {
    file: Vec<u8>,
    filter: Option<PathFilter<'static>>,
    key: KeyBuffer,
    numbers: [f64; 6],
}

#[wasm_bindgen]
impl Filter {
    /// No file yet.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no other way")]
    pub fn new() -> Self {
        let (file, key) = (Vec::new(), KeyBuffer::default());
        Self { file, filter: None, key, numbers: [0.0; 6] }
    }

    /// Makes room for a file of `length` bytes, behind those that were written, and says where it
    /// lies: nowhere if there is no memory for it.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        let more = length.saturating_sub(self.file.len());
        if self.file.try_reserve_exact(more).is_err() {
            return core::ptr::null();
        }
        self.file.resize(self.file.len() + more, 0);
        self.file.as_ptr()
    }

    /// Reads the filter from the first `length` bytes, and says where six numbers lie: the pointer
    /// and the length of the first line, and the depth of wildcards. If the bytes are refused, the
    /// first one is 0, and what follows says why: the pointer and the length of what was expected,
    /// how many, what was found, and where. They stay, and more may be written behind them.
    ///
    /// A count that there is not is -1. What was found is a number as it is, -1 for the end, or a byte
    /// subtracted from -2.
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

    /// Makes the buffer for paths `length` bytes long, and says where it lies: nowhere if there is no
    /// memory for it.
    pub fn reserve_key(&mut self, length: usize) -> *const u8 {
        self.key.reserve(length)
    }

    /// Whether the filter has the path of `length` bytes that was written.
    pub fn has(&self, length: usize) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.has(self.key.key(length)))
    }
}
