//! The parser of the tail of a snapshot file.

use hedgerow_snapshot::{Fault, FormatError, FrameKind, Manifest};
use wasm_bindgen::prelude::*;

use crate::frame_record::{FrameRecord, to_record};
use crate::wasm_error::WasmError;

/// The last bytes of a file, then the values parsed from them.
#[wasm_bindgen]
pub struct Tail {
    bytes: Vec<u8>,
    file_size: u64,
    header: [u8; Manifest::HEADER_LENGTH],
    error: Option<FormatError>,
    image_size: u64,
    piece_size: u32,
    data_size: u64,
    data_frames: usize,
    identity: [u8; 32],
    records: Vec<FrameRecord>,
}

#[wasm_bindgen]
impl Tail {
    /// Creates a tail without bytes, of a file of `file_size` bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(file_size: f64) -> Self {
        Self {
            bytes: Vec::new(),
            file_size: file_size as u64,
            header: [0; Manifest::HEADER_LENGTH],
            error: None,
            image_size: 0,
            piece_size: 0,
            data_size: 0,
            data_frames: 0,
            identity: [0; 32],
            records: Vec::new(),
        }
    }

    /// Makes room for the last `length` bytes of the file. Returns the address to write them to, or null
    /// if the allocation fails.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        self.bytes = Vec::new();
        if self.bytes.try_reserve_exact(length).is_err() {
            return core::ptr::null();
        }
        self.bytes.resize(length, 0);
        self.bytes.as_ptr()
    }

    /// Returns the length of the tail in bytes, or 0 if the file is rejected.
    pub fn length(&mut self) -> f64 {
        let footer = self.bytes.last_chunk().unwrap_or(&[0; Manifest::FOOTER_LENGTH]);
        match Manifest::tail_length(footer, self.file_size) {
            Ok(length) => length as f64,
            Err(error) => {
                self.error = Some(error);
                0.0
            }
        }
    }

    /// Parses the manifest and frees the bytes. If `is_strict`, also checks the header that was written.
    /// Returns whether the file is valid.
    pub fn parse(&mut self, is_strict: bool) -> bool {
        let bytes = core::mem::take(&mut self.bytes);
        let read = Manifest::parse(&bytes, self.file_size);
        drop(bytes);
        let checked = read.and_then(|manifest| {
            if is_strict {
                manifest.check_header(&self.header)?;
            }
            Ok(manifest)
        });
        match checked {
            Ok(manifest) => self.take(manifest),
            Err(error) => self.error = Some(error),
        }
        self.error.is_none()
    }

    fn take(&mut self, manifest: Manifest) {
        let data = manifest.frames().iter().filter(|frame| frame.kind == FrameKind::Data);
        self.data_frames = data.count();
        self.data_size = manifest.data_size();
        self.image_size = manifest.image_size();
        self.piece_size = manifest.piece_size();
        self.identity = *manifest.identity().as_bytes();
        // Frames and records have the same size, so collecting reuses the memory.
        self.records = manifest.into_frames().into_iter().map(|frame| to_record(&frame)).collect();
    }

    /// Returns the address to write the header of the file to.
    pub fn header(&self) -> *const u8 {
        self.header.as_ptr()
    }

    /// Returns the length of the header of the file.
    pub fn header_length(&self) -> usize {
        self.header.len()
    }

    /// Replaces the error with one that names the version, if the header that was written has another
    /// version.
    pub fn prefer_version_error(&mut self) {
        match Manifest::check_version(&self.header) {
            Err(error) if !matches!(error.fault, Fault::Magic { .. }) => self.error = Some(error),
            _ => {}
        }
    }

    /// Takes the error of the last call that failed.
    pub fn take_error(&mut self) -> Option<WasmError> {
        self.error.take().map(WasmError::from)
    }

    /// Returns the size of the image in bytes.
    pub fn image_size(&self) -> f64 {
        self.image_size as f64
    }

    /// Returns the maximum number of bytes of the image in a data frame.
    pub fn piece_size(&self) -> u32 {
        self.piece_size
    }

    /// Returns the number of bytes of the image in data frames.
    pub fn data_size(&self) -> f64 {
        self.data_size as f64
    }

    /// Returns the number of data frames.
    pub fn data_frames(&self) -> usize {
        self.data_frames
    }

    /// Returns the address of the identity, 32 bytes.
    pub fn identity(&self) -> *const u8 {
        self.identity.as_ptr()
    }

    /// Returns the address of the records of all frames, 64 bytes each.
    pub fn records(&self) -> *const FrameRecord {
        self.records.as_ptr()
    }

    /// Returns the number of frames.
    pub fn frames(&self) -> usize {
        self.records.len()
    }
}
