//! The builder of path filters for JavaScript and other hosts, which write the first line themselves.

use alloc::string::String;

use hedgerow_paths::{BuildError, KeyCollector, Kind, PathFilterBuilder, Sizing};
use wasm_bindgen::prelude::*;

use crate::key_buffer::KeyBuffer;

/// Collects the keys of a filter, and builds its bits.
#[wasm_bindgen]
pub struct FilterBuilder {
    keys: Result<KeyCollector, BuildError>,
    key: KeyBuffer,
    body: String,
    numbers: [f64; 8],
}

#[wasm_bindgen]
impl FilterBuilder {
    /// Creates a builder without keys. A capacity of 0 stands for the number of keys. Options beyond
    /// their limits are rejected by `build`.
    #[wasm_bindgen(constructor)]
    pub fn new(rate: f64, seed: f64, is_classic: bool, capacity: f64, is_fuse: bool) -> Self {
        let sizing = if is_classic { Sizing::Classic } else { Sizing::Promised };
        let kind = if is_fuse { Kind::Fuse } else { Kind::Bloom };
        let mut builder = PathFilterBuilder::new().false_positive_rate(rate).seed(seed as u64);
        if capacity > 0.0 {
            builder = builder.capacity(capacity as u64);
        }
        let (keys, key) = (builder.kind(kind).sizing(sizing).collect(), KeyBuffer::default());
        Self { keys, key, body: String::new(), numbers: [0.0; 8] }
    }

    /// Replaces the buffer for paths by one of `length` bytes. Returns its address, or null if the
    /// allocation fails.
    pub fn reserve_key(&mut self, length: usize) -> *const u8 {
        self.key.reserve(length)
    }

    /// Adds the path of `length` bytes in the buffer.
    pub fn add(&mut self, length: usize) {
        if let Ok(keys) = &mut self.keys {
            keys.insert(self.key.key(length));
        }
    }

    /// Adds the keys in the first `length` bytes of the buffer, which are netstrings: `6:/about,`.
    /// Returns whether they are; if not, adds nothing.
    pub fn add_netstrings(&mut self, length: usize) -> bool {
        match &mut self.keys {
            Ok(keys) => keys.insert_netstrings(self.key.key(length)).is_ok(),
            Err(_) => true,
        }
    }

    /// Builds the bits, and consumes the keys. Returns the address of eight numbers: the address and
    /// the length of the Base64; the number of keys, of bits or slots, and of these per key; the depth
    /// of wildcards; and the segment length and the multiplier of a fuse filter.
    ///
    /// If the filter cannot be built, the first number is 0. The second is then the capacity if more
    /// keys differ, and the third the number of attempts to arrange the keys of a fuse filter; if both
    /// are 0, there are too many keys.
    pub fn build(&mut self) -> *const f64 {
        let used = Err(BuildError::TooManyKeys { expected: 0 });
        let keys = core::mem::replace(&mut self.keys, used);
        self.numbers = [0.0; 8];
        match keys.and_then(KeyCollector::build) {
            Ok(built) => {
                self.body = built.body();
                let (l, q) = built.segments();
                self.numbers = [
                    self.body.as_ptr() as usize as f64,
                    self.body.len() as f64,
                    built.n() as f64,
                    f64::from(built.m()),
                    f64::from(built.k()),
                    f64::from(built.wildcards()),
                    f64::from(l),
                    q as f64,
                ];
            }
            Err(BuildError::TooManyKeys { expected }) => self.numbers[1] = expected as f64,
            Err(BuildError::Attempts { attempts }) => self.numbers[2] = attempts as f64,
            Err(_) => {}
        }
        self.numbers.as_ptr()
    }
}
