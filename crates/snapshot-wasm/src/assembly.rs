//! The assembly of a snapshot from runs.

use hedgerow_snapshot::{EncodeError, Encoder, Options};
use wasm_bindgen::prelude::*;

use crate::refusal::Refusal;
use crate::run_record::{RunRecord, from_record};

/// Assembles a snapshot from runs.
#[wasm_bindgen]
pub struct Assembly {
    encoder: Option<Encoder>,
    record: RunRecord,
    due: Vec<u8>,
    refusal: Option<EncodeError>,
}

#[wasm_bindgen]
impl Assembly {
    /// Starts a snapshot. [`due`](Self::due) then returns its header, unless an option is invalid.
    #[wasm_bindgen(constructor)]
    pub fn new(image_size: f64, level: i32, piece_size: u32) -> Self {
        match Encoder::new(image_size as u64, &Options { level, piece_size }) {
            Ok(encoder) => {
                let due = encoder.header();
                Self { encoder: Some(encoder), record: [0; 6], due, refusal: None }
            }
            Err(error) => {
                Self { encoder: None, record: [0; 6], due: Vec::new(), refusal: Some(error) }
            }
        }
    }

    /// Returns whether the options are valid.
    pub fn is_right(&self) -> bool {
        self.refusal.is_none()
    }

    /// Returns the address to write the record of the next run to.
    pub fn record(&self) -> *const RunRecord {
        &raw const self.record
    }

    /// Adds the run whose record was written. Returns whether it is valid. Write the bytes of
    /// [`due`](Self::due) before those of the run.
    pub fn push(&mut self) -> bool {
        let run = from_record(&self.record);
        self.due.clear();
        match self.encoder.as_mut().map(|encoder| encoder.push(&run)) {
            Some(Ok(due)) => self.due.extend(due),
            Some(Err(error)) => self.refusal = Some(error),
            None => {}
        }
        self.refusal.is_none()
    }

    /// Ends the image. Returns whether it is complete. [`due`](Self::due) then returns the end of
    /// the file.
    pub fn finish(&mut self) -> bool {
        match self.encoder.take().map(Encoder::finish) {
            Some(Ok(due)) => self.due = due,
            Some(Err(error)) => self.refusal = Some(error),
            None => {}
        }
        self.refusal.is_none()
    }

    /// Returns the address of the bytes to write next.
    pub fn due(&self) -> *const u8 {
        self.due.as_ptr()
    }

    /// Returns the number of bytes to write next.
    pub fn due_length(&self) -> usize {
        self.due.len()
    }

    /// Returns the error of the last call that failed.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal.map(Refusal::from)
    }
}
