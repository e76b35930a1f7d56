//! The assembly of a snapshot from its runs.

use hedgerow_snapshot::{EncodeError, Encoder, Options};
use wasm_bindgen::prelude::*;

use crate::refusal::Refusal;
use crate::run_record::{RunRecord, from_record};

/// Puts a snapshot together.
#[wasm_bindgen]
pub struct Assembly {
    encoder: Option<Encoder>,
    record: RunRecord,
    due: Vec<u8>,
    refusal: Option<EncodeError>,
}

#[wasm_bindgen]
impl Assembly {
    /// A snapshot of which the header is due. Options beyond a limit are
    /// refused.
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

    /// Whether the options are right.
    pub fn is_right(&self) -> bool {
        self.refusal.is_none()
    }

    /// Where the record of the next run belongs.
    pub fn record(&self) -> *const RunRecord {
        &raw const self.record
    }

    /// Takes the run whose record was written. Returns whether it is right; then bytes may be due before
    /// its own.
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

    /// Takes the end of the image. Returns whether it is right; then the end of the file is due.
    pub fn finish(&mut self) -> bool {
        match self.encoder.take().map(Encoder::finish) {
            Some(Ok(due)) => self.due = due,
            Some(Err(error)) => self.refusal = Some(error),
            None => {}
        }
        self.refusal.is_none()
    }

    /// Where the bytes lie that are due.
    pub fn due(&self) -> *const u8 {
        self.due.as_ptr()
    }

    /// How many bytes are due.
    pub fn due_length(&self) -> usize {
        self.due.len()
    }

    /// Why something was refused.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal.map(Refusal::from)
    }
}
