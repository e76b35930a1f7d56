//! The limits of options.

use hedgerow_snapshot::{MAX_LEVEL, MAX_PIECE_SIZE, MIN_LEVEL, MIN_PIECE_SIZE, Options};
use wasm_bindgen::prelude::*;

use crate::refusal::Refusal;

/// The fastest level of compression.
#[wasm_bindgen]
pub fn min_level() -> i32 {
    MIN_LEVEL
}

/// The strongest level of compression.
#[wasm_bindgen]
pub fn max_level() -> i32 {
    MAX_LEVEL
}

/// The smallest piece, in bytes.
#[wasm_bindgen]
pub fn min_piece_size() -> u32 {
    MIN_PIECE_SIZE
}

/// The largest piece, in bytes.
#[wasm_bindgen]
pub fn max_piece_size() -> u32 {
    MAX_PIECE_SIZE
}

/// Why options are refused, if they are.
#[wasm_bindgen]
pub fn options_refusal(level: i32, piece_size: u32) -> Option<Refusal> {
    Options { level, piece_size }.check().err().map(Refusal::from)
}
