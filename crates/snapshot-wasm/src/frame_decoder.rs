//! The decoding of frames.

use hedgerow_snapshot::{Decoder, FormatError, Frame, FrameKind, data_runs};
use wasm_bindgen::prelude::*;

use crate::frame_record::{FrameRecord, from_record};
use crate::refusal::Refusal;

/// Decodes one frame after the other.
#[wasm_bindgen]
pub struct FrameDecoder {
    decoder: Decoder,
    record: FrameRecord,
    frame: Option<Frame>,
    out: Vec<u8>,
    runs: Vec<[u32; 2]>,
    refusal: Option<FormatError>,
}

#[wasm_bindgen]
impl FrameDecoder {
    /// Takes the memory for frames of up to `piece_size` bytes; `undefined` if there is none. A strict
    /// one also looks at the checksums of their content.
    pub fn create(piece_size: u32, is_strict: bool) -> Option<Self> {
        let decoder = Decoder::new(piece_size).ok()?;
        Some(Self {
            decoder: if is_strict { decoder } else { decoder.without_checksums() },
            record: [0; 8],
            frame: None,
            out: vec![0; piece_size as usize],
            runs: Vec::new(),
            refusal: None,
        })
    }

    /// Where the record of the next frame belongs.
    pub fn record(&self) -> *const FrameRecord {
        &raw const self.record
    }

    /// Begins the frame whose record was written, and says where its bytes belong: nowhere if it is
    /// refused.
    pub fn begin(&mut self) -> *const u8 {
        let frame = from_record(&self.record);
        match self.decoder.begin(&frame) {
            Ok(()) => {
                self.frame = Some(frame);
                self.decoder.missing().as_ptr()
            }
            Err(error) => {
                self.refusal = Some(error);
                core::ptr::null()
            }
        }
    }

    /// Decodes the frame, of which `count` bytes were written. Returns how many runs of blocks it has
    /// that are not all zeros, or -1 if it is refused.
    pub fn finish(&mut self, count: usize) -> i32 {
        self.decoder.filled(count);
        let length = match self.frame.take() {
            Some(Frame { kind: FrameKind::Data, raw_length, .. }) => raw_length as usize,
            _ => 0,
        };
        let length = length.min(self.out.len());
        let out = &mut self.out[..length];
        match self.decoder.finish(out) {
            Ok(()) => {
                self.runs.clear();
                self.runs.extend(data_runs(out).map(|run| [run.start as u32, run.end as u32]));
                self.runs.len() as i32
            }
            Err(error) => {
                self.refusal = Some(error);
                -1
            }
        }
    }

    /// Where the data of the frame lies.
    pub fn out(&self) -> *const u8 {
        self.out.as_ptr()
    }

    /// Where the runs of the frame lie: two numbers of 32 bits each, where one begins and where it ends.
    pub fn runs(&self) -> *const [u32; 2] {
        self.runs.as_ptr()
    }

    /// Why something was refused.
    pub fn refusal(&mut self) -> Option<Refusal> {
        self.refusal.take().map(Refusal::from)
    }
}
