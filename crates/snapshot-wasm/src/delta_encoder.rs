//! The encoder of a delta.

use hedgerow_snapshot::{DeltaEncoder as Encoder, DeltaRun, EncodeError, Index, Options, Run};
use wasm_bindgen::prelude::*;

use crate::delta_piece_record::{self, DeltaPieceRecord};
use crate::delta_run_record::{self, DeltaRunRecord};
use crate::run_record::{self, RunRecord};
use crate::wasm_error::WasmError;

/// Encodes a delta from the pieces of its image that changed, in order.
#[wasm_bindgen]
pub struct DeltaEncoder {
    image_size: u64,
    options: Options,
    base_size: u64,
    tail: Vec<u8>,
    encoder: Option<Encoder>,
    pieces: Vec<DeltaPieceRecord>,
    frames: Vec<RunRecord>,
    runs: Vec<DeltaRunRecord>,
    text: Vec<u8>,
    references: Vec<String>,
    output: Vec<u8>,
    error: Option<WasmError>,
    is_too_large: bool,
}

#[wasm_bindgen]
impl DeltaEncoder {
    /// Creates an encoder against a base whose file has `base_size` bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(image_size: f64, level: i32, piece_size: u32, base_size: f64) -> Self {
        Self {
            image_size: image_size as u64,
            options: Options { level, piece_size },
            base_size: base_size as u64,
            tail: Vec::new(),
            encoder: None,
            pieces: Vec::new(),
            frames: Vec::new(),
            runs: Vec::new(),
            text: Vec::new(),
            references: Vec::new(),
            output: Vec::new(),
            error: None,
            is_too_large: false,
        }
    }

    /// Makes room for the tail of the base. Returns the address to write it to, or null if the allocation
    /// fails.
    pub fn reserve_tail(&mut self, length: usize) -> *const u8 {
        if self.tail.try_reserve_exact(length).is_err() {
            return core::ptr::null();
        }
        self.tail.resize(length, 0);
        self.tail.as_ptr()
    }

    /// Starts the delta. Returns whether the base and the options are valid. [`output`](Self::output) then
    /// returns the beginning of the file.
    pub fn begin(&mut self) -> bool {
        let tail = core::mem::take(&mut self.tail);
        let encoder = Index::parse(&tail, self.base_size)
            .map_err(WasmError::from)
            .and_then(|base| Ok(Encoder::new(self.image_size, &self.options, base)?));
        match encoder {
            Ok(encoder) => {
                self.output = encoder.header();
                self.encoder = Some(encoder);
            }
            Err(error) => self.error = Some(error),
        }
        self.encoder.is_some()
    }

    /// Makes room for the records of pieces. Returns the address to write them to.
    pub fn reserve_pieces(&mut self, count: usize) -> *const DeltaPieceRecord {
        self.pieces.resize(count, [0; 4]);
        self.pieces.as_ptr()
    }

    /// Makes room for the records of their frames. Returns the address to write them to.
    pub fn reserve_frames(&mut self, count: usize) -> *const RunRecord {
        self.frames.resize(count, [0; 6]);
        self.frames.as_ptr()
    }

    /// Makes room for the records of their runs. Returns the address to write them to.
    pub fn reserve_runs(&mut self, count: usize) -> *const DeltaRunRecord {
        self.runs.resize(count, [0; 3]);
        self.runs.as_ptr()
    }

    /// Adds the pieces whose records were written. Returns whether they are valid.
    pub fn push(&mut self) -> bool {
        let frames: Vec<Run> = self.frames.iter().map(run_record::from_record).collect();
        let runs: Vec<DeltaRun> = self.runs.iter().map(delta_run_record::from_record).collect();
        let (mut frames, mut runs) = (&frames[..], &runs[..]);
        for record in &self.pieces {
            let (block, frame_count, run_count) = delta_piece_record::from_record(record);
            let (of_piece, after) = frames.split_at(frame_count.min(frames.len()));
            frames = after;
            let (runs_of_piece, after) = runs.split_at(run_count.min(runs.len()));
            runs = after;
            let pushed = self.encoder.as_mut().map(|it| it.push(block, of_piece, runs_of_piece));
            if let Some(Err(error)) = pushed {
                self.fail(error);
                break;
            }
        }
        self.error.is_none()
    }

    /// Makes room for a reference. Returns the address to write it to, in UTF-8.
    pub fn reserve_reference(&mut self, length: usize) -> *const u8 {
        self.text.resize(length, 0);
        self.text.as_ptr()
    }

    /// Adds the reference that was written: first that of the base, then those of its base objects.
    pub fn add_reference(&mut self) {
        self.references.push(String::from_utf8_lossy(&self.text).into_owned());
    }

    /// Ends the image. Returns whether the delta is valid. [`output`](Self::output) then returns the end of
    /// the file.
    pub fn finish(&mut self) -> bool {
        let references: Vec<&str> = self.references.iter().map(String::as_str).collect();
        match self.encoder.take().map(|encoder| encoder.finish(&references)) {
            Some(Ok(output)) => self.output = output,
            Some(Err(error)) => self.fail(error),
            None => {}
        }
        self.error.is_none()
    }

    fn fail(&mut self, error: EncodeError) {
        self.is_too_large = matches!(error, EncodeError::Frames | EncodeError::Mappings);
        self.error = Some(error.into());
    }

    /// Returns whether the last error is that the delta has more frames or mappings than the format allows.
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Returns the address of the bytes to write next.
    pub fn output(&self) -> *const u8 {
        self.output.as_ptr()
    }

    /// Returns the number of bytes to write next.
    pub fn output_length(&self) -> usize {
        self.output.len()
    }

    /// Takes the error of the last call that failed.
    pub fn take_error(&mut self) -> Option<WasmError> {
        self.error.take()
    }
}
