//! The expected false-positive rate of a filter.

use alloc::vec::Vec;

use hedgerow_paths::PathFilter;
use wasm_bindgen::prelude::*;

/// Returns the number of bits set in a filter and the false-positive rate to expect, or nothing if
/// the file is rejected.
#[wasm_bindgen]
pub fn measure(file: &[u8]) -> Vec<f64> {
    match PathFilter::parse(file) {
        Ok(filter) => [filter.bits_set() as f64, filter.false_positive_rate()].to_vec(),
        Err(_) => Vec::new(),
    }
}
