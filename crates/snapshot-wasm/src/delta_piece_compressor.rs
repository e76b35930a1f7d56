//! The compressor for pieces of a delta.

use core::ops::Range;

use hedgerow_snapshot::{BLOCK_SIZE, DeltaPieceEncoder, EncodeError, Options};
use wasm_bindgen::prelude::*;

use crate::delta_run_record::{DeltaRunRecord, to_record};
use crate::run_record::{self, RunRecord};
use crate::wasm_error::WasmError;

/// Compresses the blocks of pieces that changed.
#[wasm_bindgen]
pub struct DeltaPieceCompressor {
    encoder: Option<DeltaPieceEncoder>,
    error: Option<EncodeError>,
    piece: Vec<u8>,
    base: Vec<u8>,
    candidates: Vec<Range<u32>>,
    uncompared: Vec<Range<u32>>,
    frames: Vec<RunRecord>,
    runs: Vec<DeltaRunRecord>,
    bytes: *const u8,
    length: usize,
}

#[wasm_bindgen]
impl DeltaPieceCompressor {
    /// Creates a compressor. Options beyond their limits are rejected by `compress`.
    #[wasm_bindgen(constructor)]
    pub fn new(level: i32, piece_size: u32) -> Self {
        let (encoder, error) = match DeltaPieceEncoder::new(&Options { level, piece_size }) {
            Ok(encoder) => (Some(encoder), None),
            Err(error) => (None, Some(error)),
        };
        let buffer = || vec![0; if encoder.is_some() { piece_size as usize } else { 0 }];
        let (piece, base) = (buffer(), buffer());
        Self {
            encoder,
            error,
            piece,
            base,
            candidates: Vec::new(),
            uncompared: Vec::new(),
            frames: Vec::new(),
            runs: Vec::new(),
            bytes: core::ptr::null(),
            length: 0,
        }
    }

    /// Returns the address to write the next piece to.
    pub fn piece(&self) -> *const u8 {
        self.piece.as_ptr()
    }

    /// Returns the address to write the same bytes of the base's image to.
    pub fn base(&self) -> *const u8 {
        self.base.as_ptr()
    }

    /// Adds blocks of the next piece, from `start` to `end`, that may have changed. Unless `is_compared`, they
    /// count as changed without a comparison.
    pub fn add_candidate(&mut self, start: u32, end: u32, is_compared: bool) {
        self.candidates.push(start..end);
        if !is_compared {
            self.uncompared.push(start..end);
        }
    }

    /// Compresses the piece of `length` bytes that was written. Compares it with the `base_length` bytes of
    /// the base that were written, unless that is negative. Returns the number of frames, or -1 if the piece
    /// is rejected.
    pub fn compress(&mut self, length: usize, base_length: i32) -> i32 {
        self.frames.clear();
        self.runs.clear();
        (self.bytes, self.length) = (core::ptr::null(), 0);
        let candidates = core::mem::take(&mut self.candidates);
        self.make_uncompared_differ();
        let piece = self.piece.get(..length).unwrap_or_default();
        let base = usize::try_from(base_length).ok().and_then(|length| self.base.get(..length));
        match self.encoder.as_mut().map(|encoder| encoder.encode(piece, base, &candidates)) {
            Some(Ok(delta)) => {
                self.frames.extend(delta.frames.iter().map(run_record::to_record));
                self.runs.extend(delta.runs.iter().map(to_record));
                (self.bytes, self.length) = (delta.bytes.as_ptr(), delta.bytes.len());
                return self.frames.len() as i32;
            }
            Some(Err(error)) => self.error = Some(error),
            None => {}
        }
        -1
    }

    /// Makes the uncompared blocks of the base differ from those of the piece, so that these count as changed.
    fn make_uncompared_differ(&mut self) {
        for block in core::mem::take(&mut self.uncompared).into_iter().flatten() {
            let start = block as usize * BLOCK_SIZE as usize;
            if let (Some(new), Some(old)) = (self.piece.get(start), self.base.get_mut(start)) {
                *old = !new;
            }
        }
    }

    /// Returns the address of the records of the frames, 48 bytes each.
    pub fn frames(&self) -> *const RunRecord {
        self.frames.as_ptr()
    }

    /// Returns the address of the records of the runs, 12 bytes each.
    pub fn runs(&self) -> *const DeltaRunRecord {
        self.runs.as_ptr()
    }

    /// Returns the number of runs.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Returns the address of the bytes of all frames, concatenated.
    pub fn bytes(&self) -> *const u8 {
        self.bytes
    }

    /// Returns the number of bytes of all frames.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the error of the last call that failed.
    pub fn error(&self) -> Option<WasmError> {
        self.error.map(WasmError::from)
    }
}
