//! The compressor for pieces of a delta.

use core::ops::Range;

use hedgerow_snapshot::{
    BLOCK_SIZE, DeltaPiece, DeltaPieceEncoder, EncodeError, Options, Unchanged,
};
use wasm_bindgen::prelude::*;

use crate::delta_piece_record::{self, DeltaPieceRecord};
use crate::delta_run_record::{self, DeltaRunRecord};
use crate::run_record::{self, RunRecord};
use crate::wasm_error::WasmError;

/// Compresses the blocks of pieces that changed, many pieces at a time.
#[wasm_bindgen]
pub struct DeltaPieceCompressor {
    encoder: Option<DeltaPieceEncoder>,
    error: Option<EncodeError>,
    piece: Vec<u8>,
    base: Vec<u8>,
    candidates: Vec<Range<u32>>,
    uncompared: Vec<Range<u32>>,
    output: Output,
}

/// The pieces that were compressed.
#[derive(Default)]
struct Output {
    pieces: Vec<DeltaPieceRecord>,
    frames: Vec<RunRecord>,
    runs: Vec<DeltaRunRecord>,
    bytes: Vec<u8>,
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
            output: Output::default(),
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

    /// Compresses the piece of `length` bytes that was written, which begins at a block of the image. Compares
    /// it with the `base_length` bytes of the base that were written, unless that is negative. Returns whether
    /// the piece is accepted.
    pub fn compress(&mut self, block: f64, length: usize, base_length: i32) -> bool {
        self.make_uncompared_differ();
        let Some(encoder) = &mut self.encoder else { return false };
        let piece = self.piece.get(..length).unwrap_or_default();
        let base = usize::try_from(base_length).ok().and_then(|length| self.base.get(..length));
        match encoder.encode(piece, base, &self.candidates) {
            Ok(delta) => self.output.add(block, &delta),
            Err(error) => self.error = Some(error),
        }
        self.candidates.clear();
        self.error.is_none()
    }

    /// Compresses a piece of which only the candidates were written, all of which changed. The others are zeros
    /// if `is_rest_zero`; otherwise they may be data. Returns whether the piece is accepted.
    pub fn compress_changed(&mut self, block: f64, length: usize, is_rest_zero: bool) -> bool {
        let Some(encoder) = &mut self.encoder else { return false };
        let piece = self.piece.get_mut(..length).unwrap_or_default();
        let rest = if is_rest_zero { Unchanged::Zeros } else { Unchanged::Data };
        match encoder.encode_changed(piece, &self.candidates, rest) {
            Ok(delta) => self.output.add(block, &delta),
            Err(error) => self.error = Some(error),
        }
        self.candidates.clear();
        self.uncompared.clear();
        self.error.is_none()
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

    /// Forgets the pieces that were compressed.
    pub fn clear(&mut self) {
        self.output.pieces.clear();
        self.output.frames.clear();
        self.output.runs.clear();
        self.output.bytes.clear();
    }

    /// Returns the address of the records of the pieces, 16 bytes each.
    pub fn pieces(&self) -> *const DeltaPieceRecord {
        self.output.pieces.as_ptr()
    }

    /// Returns the number of pieces.
    pub fn piece_count(&self) -> usize {
        self.output.pieces.len()
    }

    /// Returns the address of the records of the frames, 48 bytes each.
    pub fn frames(&self) -> *const RunRecord {
        self.output.frames.as_ptr()
    }

    /// Returns the number of frames.
    pub fn frame_count(&self) -> usize {
        self.output.frames.len()
    }

    /// Returns the address of the records of the runs, 12 bytes each.
    pub fn runs(&self) -> *const DeltaRunRecord {
        self.output.runs.as_ptr()
    }

    /// Returns the number of runs.
    pub fn run_count(&self) -> usize {
        self.output.runs.len()
    }

    /// Returns the address of the bytes of all frames, concatenated.
    pub fn bytes(&self) -> *const u8 {
        self.output.bytes.as_ptr()
    }

    /// Returns the number of bytes of all frames.
    pub fn length(&self) -> usize {
        self.output.bytes.len()
    }

    /// Returns the error of the last call that failed.
    pub fn error(&self) -> Option<WasmError> {
        self.error.map(WasmError::from)
    }
}

impl Output {
    fn add(&mut self, block: f64, piece: &DeltaPiece<'_>) {
        let record = delta_piece_record::to_record(block, piece.frames.len(), piece.runs.len());
        self.pieces.push(record);
        self.frames.extend(piece.frames.iter().map(run_record::to_record));
        self.runs.extend(piece.runs.iter().map(delta_run_record::to_record));
        self.bytes.extend(piece.bytes);
    }
}
