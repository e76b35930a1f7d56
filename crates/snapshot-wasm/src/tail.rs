//! The end of a snapshot file, which tells everything else.

use hedgerow_snapshot::{Fault, FormatError, FrameKind, Manifest};
use wasm_bindgen::prelude::*;

use crate::frame_record::{FrameRecord, to_record};
use crate::refusal::Refusal;

/// The last bytes of a file, and then what is read from them.
#[wasm_bindgen]
pub struct Tail {
    bytes: Vec<u8>,
    file_size: u64,
    header: [u8; Manifest::HEADER_LENGTH],
    refusal: Option<FormatError>,
    image_size: u64,
    piece_size: u32,
    data_size: u64,
    data_frames: usize,
    identity: [u8; 32],
    records: Vec<FrameRecord>,
}

#[wasm_bindgen]
impl Tail {
    /// The tail of a file of `file_size` bytes, of which none is there yet.
    #[wasm_bindgen(constructor)]
    pub fn new(file_size: f64) -> Self {
        Self {
            bytes: Vec::new(),
            file_size: file_size as u64,
            header: [0; Manifest::HEADER_LENGTH],
            refusal: None,
            image_size: 0,
            piece_size: 0,
            data_size: 0,
            data_frames: 0,
            identity: [0; 32],
            records: Vec::new(),
        }
    }

    /// Makes room for the last `length` bytes of the file, and says where they belong: nowhere if there
    /// is no memory for them.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        self.bytes = Vec::new();
        if self.bytes.try_reserve_exact(length).is_err() {
            return core::ptr::null();
        }
        self.bytes.resize(length, 0);
        self.bytes.as_ptr()
    }

    /// How many of the last bytes of the file are needed to read it; 0 if it is refused.
    pub fn length(&mut self) -> f64 {
        let footer = self.bytes.last_chunk().unwrap_or(&[0; Manifest::FOOTER_LENGTH]);
        match Manifest::tail_length(footer, self.file_size) {
            Ok(length) => length as f64,
            Err(error) => {
                self.refusal = Some(error);
                0.0
            }
        }
    }

    /// Reads the manifest from the bytes, which go, and compares the header that was written if
    /// `is_strict`. Returns whether all is right.
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
            Err(error) => self.refusal = Some(error),
        }
        self.refusal.is_none()
    }

    fn take(&mut self, manifest: Manifest) {
        let data = manifest.frames().iter().filter(|frame| frame.kind == FrameKind::Data);
        self.data_frames = data.count();
        self.data_size = manifest.data_size();
        self.image_size = manifest.image_size();
        self.piece_size = manifest.piece_size();
        self.identity = *manifest.identity().as_bytes();
        // As long as each other, they take the same memory.
        self.records = manifest.into_frames().into_iter().map(|frame| to_record(&frame)).collect();
    }

    /// Where the header of the file may be written.
    pub fn header(&self) -> *const u8 {
        self.header.as_ptr()
    }

    /// How long the header of the file is.
    pub fn header_length(&self) -> usize {
        self.header.len()
    }

    /// If the header that was written is that of another version, that is why the file is refused.
    pub fn blame_version(&mut self) {
        match Manifest::check_version(&self.header) {
            Err(error) if !matches!(error.fault, Fault::Magic { .. }) => self.refusal = Some(error),
            _ => {}
        }
    }

    /// Why something was refused.
    pub fn refusal(&mut self) -> Option<Refusal> {
        self.refusal.take().map(Refusal::from)
    }

    /// The size of the image, in bytes.
    pub fn image_size(&self) -> f64 {
        self.image_size as f64
    }

    /// The most bytes of the image that a frame of data holds.
    pub fn piece_size(&self) -> u32 {
        self.piece_size
    }

    /// How many bytes of the image are data.
    pub fn data_size(&self) -> f64 {
        self.data_size as f64
    }

    /// How many frames are data.
    pub fn data_frames(&self) -> usize {
        self.data_frames
    }

    /// Where the identity lies: 32 bytes.
    pub fn identity(&self) -> *const u8 {
        self.identity.as_ptr()
    }

    /// Where the records of all frames lie, 64 bytes each.
    pub fn records(&self) -> *const FrameRecord {
        self.records.as_ptr()
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.records.len()
    }
}
