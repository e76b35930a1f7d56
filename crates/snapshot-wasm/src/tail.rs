//! The end of a snapshot file, which tells everything else.

use hedgerow_snapshot::{FormatError, FrameKind, Manifest};
use wasm_bindgen::prelude::*;

use crate::frame_record::{FrameRecord, to_record};
use crate::refusal::Refusal;

/// The last bytes of a file, and then the manifest that is read from them.
#[wasm_bindgen]
pub struct Tail {
    bytes: Vec<u8>,
    file_size: u64,
    refusal: Option<FormatError>,
    manifest: Option<Manifest>,
    records: Vec<FrameRecord>,
    identity: [u8; 32],
    header: [u8; Manifest::HEADER_LENGTH],
}

#[wasm_bindgen]
impl Tail {
    /// The tail of a file of `file_size` bytes, of which none is there yet.
    #[wasm_bindgen(constructor)]
    pub fn new(file_size: f64) -> Self {
        Self {
            bytes: Vec::new(),
            file_size: file_size as u64,
            refusal: None,
            manifest: None,
            records: Vec::new(),
            identity: [0; 32],
            header: [0; Manifest::HEADER_LENGTH],
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

    /// Reads the manifest from the bytes, which go. Returns whether it is right.
    pub fn parse(&mut self) -> bool {
        let bytes = core::mem::take(&mut self.bytes);
        match Manifest::parse(&bytes, self.file_size) {
            Ok(manifest) => {
                drop(bytes);
                self.records = manifest.frames().iter().map(to_record).collect();
                self.identity = *manifest.identity().as_bytes();
                self.manifest = Some(manifest);
                true
            }
            Err(error) => {
                self.refusal = Some(error);
                false
            }
        }
    }

    /// Why something was refused.
    pub fn refusal(&mut self) -> Option<Refusal> {
        self.refusal.take().map(Refusal::from)
    }

    /// The size of the image, in bytes.
    pub fn image_size(&self) -> f64 {
        self.manifest.as_ref().map_or(0.0, |manifest| manifest.image_size() as f64)
    }

    /// The most bytes of the image that a frame of data holds.
    pub fn piece_size(&self) -> u32 {
        self.manifest.as_ref().map_or(0, Manifest::piece_size)
    }

    /// How many bytes of the image are data.
    pub fn data_size(&self) -> f64 {
        self.manifest.as_ref().map_or(0.0, |manifest| manifest.data_size() as f64)
    }

    /// How many frames are data.
    pub fn data_frames(&self) -> usize {
        let frames = self.manifest.as_ref().map_or(&[][..], Manifest::frames);
        frames.iter().filter(|frame| frame.kind == FrameKind::Data).count()
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

    /// Where the header of the file may be written.
    pub fn header(&self) -> *const u8 {
        self.header.as_ptr()
    }

    /// How long the header of the file is.
    pub fn header_length(&self) -> usize {
        self.header.len()
    }

    /// Whether the header that was written is right.
    pub fn check_header(&mut self) -> bool {
        let checked = self.manifest.as_ref().map_or(Ok(()), |it| it.check_header(&self.header));
        self.refusal = checked.err();
        self.refusal.is_none()
    }
}
