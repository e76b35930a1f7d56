//! The compressor for pieces of an image.

use hedgerow_snapshot::{EncodeError, Options, PieceEncoder};
use wasm_bindgen::prelude::*;

use crate::run_record::{RunRecord, to_record};
use crate::wasm_error::WasmError;

/// Compresses pieces one by one.
#[wasm_bindgen]
pub struct PieceCompressor {
    encoder: Option<PieceEncoder>,
    error: Option<EncodeError>,
    piece: Vec<u8>,
    runs: Vec<RunRecord>,
    bytes: *const u8,
    length: usize,
}

#[wasm_bindgen]
impl PieceCompressor {
    /// Creates a compressor. Options beyond their limits are rejected by `compress`.
    #[wasm_bindgen(constructor)]
    pub fn new(level: i32, piece_size: u32) -> Self {
        let (encoder, error) = match PieceEncoder::new(&Options { level, piece_size }) {
            Ok(encoder) => (Some(encoder), None),
            Err(error) => (None, Some(error)),
        };
        let piece = vec![0; if encoder.is_some() { piece_size as usize } else { 0 }];
        let bytes = core::ptr::null();
        Self { encoder, error, piece, runs: Vec::new(), bytes, length: 0 }
    }

    /// Returns the address to write the next piece to.
    pub fn piece(&self) -> *const u8 {
        self.piece.as_ptr()
    }

    /// Compresses the piece of `length` bytes that was written. Returns the number of its runs, or -1
    /// if it is rejected.
    pub fn compress(&mut self, length: usize) -> i32 {
        self.runs.clear();
        (self.bytes, self.length) = (core::ptr::null(), 0);
        let piece = self.piece.get(..length).unwrap_or_default();
        match self.encoder.as_mut().map(|encoder| encoder.encode(piece)) {
            Some(Ok(runs)) => {
                for (run, bytes) in runs {
                    if self.length == 0 {
                        self.bytes = bytes.as_ptr();
                    }
                    self.length += bytes.len();
                    self.runs.push(to_record(&run));
                }
                return self.runs.len() as i32;
            }
            Some(Err(error)) => self.error = Some(error),
            None => {}
        }
        -1
    }

    /// Returns the address of the records of the runs, 48 bytes each.
    pub fn runs(&self) -> *const RunRecord {
        self.runs.as_ptr()
    }

    /// Returns the address of the bytes of all runs, concatenated.
    pub fn bytes(&self) -> *const u8 {
        self.bytes
    }

    /// Returns the number of bytes of all runs.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the error of the last call that failed.
    pub fn error(&self) -> Option<WasmError> {
        self.error.map(WasmError::from)
    }
}
