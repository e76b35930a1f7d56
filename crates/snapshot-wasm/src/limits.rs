//! The limits of options.

use hedgerow_snapshot::{MAX_LEVEL, MAX_PIECE_SIZE, MIN_LEVEL, MIN_PIECE_SIZE, Options};
use wasm_bindgen::prelude::*;

use crate::wasm_error::WasmError;

/// Returns the minimum compression level.
#[wasm_bindgen]
pub fn min_level() -> i32 {
    MIN_LEVEL
}

/// Returns the maximum compression level.
#[wasm_bindgen]
pub fn max_level() -> i32 {
    MAX_LEVEL
}

/// Returns the minimum piece size in bytes.
#[wasm_bindgen]
pub fn min_piece_size() -> u32 {
    MIN_PIECE_SIZE
}

/// Returns the maximum piece size in bytes.
#[wasm_bindgen]
pub fn max_piece_size() -> u32 {
    MAX_PIECE_SIZE
}

/// Returns the error of options, or `undefined` if they are valid.
#[wasm_bindgen]
pub fn check_options(level: i32, piece_size: u32) -> Option<WasmError> {
    Options { level, piece_size }.check().err().map(WasmError::from)
}
