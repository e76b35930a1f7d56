//! The merging of path filters for JavaScript, which writes the first line itself.

use alloc::string::String;

use hedgerow_paths::{PathFilter, PathFilterMerger};
use wasm_bindgen::prelude::*;

/// Merges filters.
#[wasm_bindgen]
#[derive(Default)]
pub struct FilterMerger {
    merger: Option<PathFilterMerger>,
    body: String,
    numbers: [f64; 2],
}

#[wasm_bindgen]
impl FilterMerger {
    /// Creates a merger without filters.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the keys of a filter. Returns whether the file is a filter that can be merged with those
    /// before it; if not, adds nothing.
    pub fn add(&mut self, file: &[u8]) -> bool {
        let Ok(filter) = PathFilter::parse(file) else { return false };
        match &mut self.merger {
            Some(merger) => merger.add(&filter).is_ok(),
            None => {
                self.merger = PathFilterMerger::new(&filter).ok();
                self.merger.is_some()
            }
        }
    }

    /// Merges the bits, and consumes the filters. Returns the address of two numbers: the address and
    /// the length of the Base64. Both are 0 if there are no filters.
    pub fn build(&mut self) -> *const f64 {
        if let Some(merger) = self.merger.take() {
            self.body = merger.body();
            self.numbers = [self.body.as_ptr() as usize as f64, self.body.len() as f64];
        }
        self.numbers.as_ptr()
    }
}
