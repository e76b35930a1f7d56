//! The decoder of frames.

use hedgerow_snapshot::{Decompressor, Digest, FormatError, Frame, FrameKind, data_runs};
use wasm_bindgen::prelude::*;

use crate::frame_record::{FrameRecord, from_record};
use crate::wasm_error::WasmError;

/// A frame that is arriving.
#[derive(Default)]
struct Slot {
    frame: Option<Frame>,
    bytes: Vec<u8>,
}

/// Decodes frames, several of which may arrive at a time, each in a separate slot.
#[wasm_bindgen]
pub struct FrameDecoder {
    decompressor: Decompressor,
    record: FrameRecord,
    slots: Vec<Slot>,
    out: Vec<u8>,
    runs: Vec<[u32; 2]>,
    digest: [u8; Digest::LENGTH],
    error: Option<FormatError>,
}

#[wasm_bindgen]
impl FrameDecoder {
    /// Creates a decoder for frames of up to `piece_size` bytes of data, or returns `undefined` if the
    /// allocation fails. If `is_strict`, the decoder also checks the content checksums.
    pub fn create(piece_size: u32, is_strict: bool) -> Option<Self> {
        let decompressor = Decompressor::new(piece_size).ok()?;
        let mut out = Vec::new();
        out.try_reserve_exact(piece_size as usize).ok()?;
        out.resize(piece_size as usize, 0);
        Some(Self {
            decompressor: if is_strict { decompressor } else { decompressor.without_checksums() },
            record: [0; 8],
            slots: Vec::new(),
            out,
            runs: Vec::new(),
            digest: [0; Digest::LENGTH],
            error: None,
        })
    }

    /// Returns the address to write the record of the next frame to.
    pub fn record(&self) -> *const FrameRecord {
        &raw const self.record
    }

    /// Begins the frame whose record was written, in a slot. Returns the address to write its bytes to,
    /// or null if the frame is rejected or the allocation fails. The address is valid until the next
    /// frame is begun in the slot.
    pub fn begin(&mut self, slot: usize) -> *const u8 {
        let frame = from_record(&self.record);
        if let Err(error) = self.decompressor.check(&frame) {
            self.error = Some(error);
            return core::ptr::null();
        }
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        let Slot { frame: begun, bytes } = &mut self.slots[slot];
        let length = frame.compressed_length as usize;
        if bytes.try_reserve_exact(length.saturating_sub(bytes.len())).is_err() {
            return core::ptr::null();
        }
        if bytes.len() < length {
            bytes.resize(length, 0);
        }
        *begun = Some(frame);
        bytes.as_ptr()
    }

    /// Decodes the frame in a slot, of which `count` bytes were written. Returns the number of runs of
    /// blocks that are not all zeros, or -1 if the frame is rejected.
    pub fn finish(&mut self, slot: usize, count: usize) -> i32 {
        let Some(Slot { frame, bytes }) = self.slots.get_mut(slot) else { return -1 };
        let Some(frame) = frame.take() else { return -1 };
        let length = match frame.kind {
            FrameKind::Data => frame.raw_length as usize,
            FrameKind::Hole => 0,
        };
        let length = length.min(self.out.len());
        let out = &mut self.out[..length];
        let bytes = &bytes[..count.min(bytes.len())];
        match self.decompressor.decompress(&frame, bytes, out) {
            Ok(()) => {
                self.runs.clear();
                self.runs.extend(data_runs(out).map(|run| [run.start as u32, run.end as u32]));
                self.runs.len() as i32
            }
            Err(error) => {
                self.error = Some(error);
                -1
            }
        }
    }

    /// Returns the address of the data of the last decoded frame. The caller may overwrite it.
    pub fn out(&self) -> *const u8 {
        self.out.as_ptr()
    }

    /// Returns the address of the digest, 32 bytes, of the first `length` bytes of that data.
    pub fn out_digest(&mut self, length: usize) -> *const u8 {
        self.digest = *Digest::of(&self.out[..length.min(self.out.len())]).as_bytes();
        self.digest.as_ptr()
    }

    /// Returns the address of the runs of the frame: the start and the end of each, as 32-bit numbers.
    pub fn runs(&self) -> *const [u32; 2] {
        self.runs.as_ptr()
    }

    /// Takes the error of the last call that failed.
    pub fn take_error(&mut self) -> Option<WasmError> {
        self.error.take().map(WasmError::from)
    }
}
