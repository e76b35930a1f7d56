//! The building of path filters for JavaScript, which writes the first line itself.

use alloc::string::String;

use hedgerow_paths::{BuildError, KeyCollector, PathFilterBuilder, Sizing};
use wasm_bindgen::prelude::*;

use crate::key_buffer::KeyBuffer;

/// Collects the keys of a filter, and builds its bits.
#[wasm_bindgen]
pub struct FilterBuilder {
    keys: Result<KeyCollector, BuildError>,
    key: KeyBuffer,
    body: String,
    numbers: [f64; 6],
}

#[wasm_bindgen]
impl FilterBuilder {
    /// No keys yet. Options beyond a limit are refused by `build`.
    #[wasm_bindgen(constructor)]
    pub fn new(rate: f64, seed: f64, is_classic: bool) -> Self {
        let sizing = if is_classic { Sizing::Classic } else { Sizing::Promised };
        let builder = PathFilterBuilder::new().false_positive_rate(rate).seed(seed as u64);
        let (keys, key) = (builder.sizing(sizing).collect(), KeyBuffer::default());
        Self { keys, key, body: String::new(), numbers: [0.0; 6] }
    }

    /// Makes the buffer for paths `length` bytes long, and says where it lies: nowhere if there is no
    /// memory for it.
    pub fn reserve_key(&mut self, length: usize) -> *const u8 {
        self.key.reserve(length)
    }

    /// Adds the path of `length` bytes that was written.
    pub fn add(&mut self, length: usize) {
        if let Ok(keys) = &mut self.keys {
            keys.insert(self.key.key(length));
        }
    }

    /// Builds the bits, and says where six numbers lie: the pointer and the length of the Base64; the
    /// numbers of keys, of bits, and of bits of a key; and the depth of wildcards. The first one is 0
    /// if there are too many keys. They are used up.
    pub fn build(&mut self) -> *const f64 {
        let used = Err(BuildError::TooManyKeys { expected: 0 });
        let keys = core::mem::replace(&mut self.keys, used);
        self.numbers[0] = 0.0;
        if let Ok(built) = keys.and_then(KeyCollector::build) {
            self.body = built.body();
            self.numbers = [
                self.body.as_ptr() as usize as f64,
                self.body.len() as f64,
                built.n() as f64,
                f64::from(built.m()),
                f64::from(built.k()),
                f64::from(built.wildcards()),
            ];
        }
        self.numbers.as_ptr()
    }
}
