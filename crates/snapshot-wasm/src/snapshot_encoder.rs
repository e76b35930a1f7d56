//! The encoder of a snapshot.

use hedgerow_snapshot::{EncodeError, Encoder, Options};
use wasm_bindgen::prelude::*;

use crate::run_record::{RunRecord, from_record};
use crate::wasm_error::WasmError;

/// Encodes a snapshot from the runs of its image, in order.
#[wasm_bindgen]
pub struct SnapshotEncoder {
    encoder: Option<Encoder>,
    record: RunRecord,
    output: Vec<u8>,
    error: Option<EncodeError>,
}

#[wasm_bindgen]
impl SnapshotEncoder {
    /// Starts a snapshot. [`output`](Self::output) then returns its header, unless an option is invalid.
    #[wasm_bindgen(constructor)]
    pub fn new(image_size: f64, level: i32, piece_size: u32) -> Self {
        match Encoder::new(image_size as u64, &Options { level, piece_size }) {
            Ok(encoder) => {
                let output = encoder.header();
                Self { encoder: Some(encoder), record: [0; 6], output, error: None }
            }
            Err(error) => {
                Self { encoder: None, record: [0; 6], output: Vec::new(), error: Some(error) }
            }
        }
    }

    /// Returns whether the options are valid.
    pub fn is_valid(&self) -> bool {
        self.error.is_none()
    }

    /// Returns the address to write the record of the next run to.
    pub fn record(&self) -> *const RunRecord {
        &raw const self.record
    }

    /// Adds the run whose record was written. Returns whether it is valid. Write the bytes of
    /// [`output`](Self::output) before those of the run.
    pub fn push(&mut self) -> bool {
        let run = from_record(&self.record);
        self.output.clear();
        match self.encoder.as_mut().map(|encoder| encoder.push(&run)) {
            Some(Ok(output)) => self.output.extend(output),
            Some(Err(error)) => self.error = Some(error),
            None => {}
        }
        self.error.is_none()
    }

    /// Ends the image. Returns whether it is complete. [`output`](Self::output) then returns the end of
    /// the file.
    pub fn finish(&mut self) -> bool {
        match self.encoder.take().map(Encoder::finish) {
            Some(Ok(output)) => self.output = output,
            Some(Err(error)) => self.error = Some(error),
            None => {}
        }
        self.error.is_none()
    }

    /// Returns the address of the bytes to write next.
    pub fn output(&self) -> *const u8 {
        self.output.as_ptr()
    }

    /// Returns the number of bytes to write next.
    pub fn output_length(&self) -> usize {
        self.output.len()
    }

    /// Returns the error of the last call that failed.
    pub fn error(&self) -> Option<WasmError> {
        self.error.map(WasmError::from)
    }
}
