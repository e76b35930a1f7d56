//! The parser of the tail of a snapshot file.

use hedgerow_snapshot::{BaseObject, Fault, FormatError, FrameKind, Index, Manifest};
use wasm_bindgen::prelude::*;

use crate::frame_record::{FrameRecord, to_record};
use crate::wasm_error::WasmError;

/// The last bytes of a file, then the values parsed from them.
#[wasm_bindgen]
pub struct Tail {
    bytes: Vec<u8>,
    file_size: u64,
    header: [u8; Index::START_LENGTH],
    error: Option<FormatError>,
    image_size: u64,
    piece_size: u32,
    data_size: u64,
    data_frames: usize,
    identity: [u8; 32],
    level: u8,
    depth: u32,
    objects: Vec<BaseObject>,
    records: Vec<FrameRecord>,
    segments: Vec<SegmentRecord>,
    segment_starts: Vec<u32>,
}

/// A segment in 16 bytes: its offset in the image, as a 64-bit floating-point number; its offset in the
/// data of its frame, and its length, as 32-bit integers.
type SegmentRecord = [u64; 2];

#[wasm_bindgen]
impl Tail {
    /// Creates a tail without bytes, of a file of `file_size` bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(file_size: f64) -> Self {
        Self {
            bytes: Vec::new(),
            file_size: file_size as u64,
            header: [0; Index::START_LENGTH],
            error: None,
            image_size: 0,
            piece_size: 0,
            data_size: 0,
            data_frames: 0,
            identity: [0; 32],
            level: 0,
            depth: 0,
            objects: Vec::new(),
            records: Vec::new(),
            segments: Vec::new(),
            segment_starts: Vec::new(),
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
        match Index::tail_length(footer, self.file_size) {
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
        let is_delta = bytes.last_chunk().is_some_and(Index::is_delta);
        let read = if is_delta {
            self.parse_delta(bytes, is_strict)
        } else {
            self.parse_snapshot(bytes, is_strict)
        };
        self.error = read.err();
        self.error.is_none()
    }

    fn header_bytes(&self) -> &[u8; Manifest::HEADER_LENGTH] {
        self.header.first_chunk().unwrap_or(&[0; Manifest::HEADER_LENGTH])
    }

    fn parse_snapshot(&mut self, bytes: Vec<u8>, is_strict: bool) -> Result<(), FormatError> {
        let manifest = Manifest::parse(&bytes, self.file_size)?;
        drop(bytes);
        if is_strict {
            manifest.check_header(self.header_bytes())?;
        }
        let data = manifest.frames().iter().filter(|frame| frame.kind == FrameKind::Data);
        self.data_frames = data.count();
        self.data_size = manifest.data_size();
        self.image_size = manifest.image_size();
        self.piece_size = manifest.piece_size();
        self.identity = *manifest.identity().as_bytes();
        for frame in manifest.frames() {
            self.segment_starts.push(self.segments.len() as u32);
            if frame.kind == FrameKind::Data {
                let offset = (frame.image_offset as f64).to_bits();
                self.segments.push([offset, u64::from(frame.raw_length) << 32]);
            }
        }
        self.segment_starts.push(self.segments.len() as u32);
        // Frames and records have the same size, so collecting reuses the memory.
        self.records =
            manifest.into_frames().into_iter().map(|frame| to_record(&frame, 0)).collect();
        Ok(())
    }

    fn parse_delta(&mut self, bytes: Vec<u8>, is_strict: bool) -> Result<(), FormatError> {
        let index = Index::parse(&bytes, self.file_size)?;
        drop(bytes);
        if is_strict {
            index.check_start(&self.header)?;
        }
        self.data_frames = index.frames().len();
        self.data_size = index.data_size();
        self.image_size = index.image_size();
        self.piece_size = index.piece_size();
        self.identity = *index.identity().as_bytes();
        self.level = index.level().unwrap_or_default();
        self.depth = index.depth();
        self.objects = index.objects().to_vec();
        self.records = (0..)
            .zip(index.frames())
            .map(|(number, frame)| to_record(&frame.to_frame(number), frame.object))
            .collect();
        // Order the segments by frame. The segments of a frame are in order already, and stay so.
        let mut starts = vec![0_u32; self.records.len() + 1];
        for segment in index.segments() {
            starts[segment.frame as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut next = starts.clone();
        self.segments = vec![[0; 2]; starts[self.records.len()] as usize];
        for segment in index.segments() {
            let at = &mut next[segment.frame as usize];
            let lengths = u64::from(segment.frame_offset) | u64::from(segment.length) << 32;
            self.segments[*at as usize] = [(segment.image_offset as f64).to_bits(), lengths];
            *at += 1;
        }
        self.segment_starts = starts;
        Ok(())
    }

    /// Returns the address to write the beginning of the file to.
    pub fn header(&self) -> *const u8 {
        self.header.as_ptr()
    }

    /// Returns the length of that beginning.
    pub fn header_length(&self) -> usize {
        self.header.len()
    }

    /// Replaces the error with one that names the version, if the header that was written has another
    /// version.
    pub fn prefer_version_error(&mut self) {
        match Manifest::check_version(self.header_bytes()) {
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

    /// Returns the address of the segments: the mappings of data in bytes, ordered by frame.
    pub fn segments(&self) -> *const SegmentRecord {
        self.segments.as_ptr()
    }

    /// Returns the number of segments.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Returns the address of the number of each frame's first segment, and the number of all segments.
    pub fn segment_starts(&self) -> *const u32 {
        self.segment_starts.as_ptr()
    }

    /// Returns the depth of a delta, or 0 for a snapshot.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the compression level of a delta's own frames, or 0 for a snapshot.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Returns the number of base objects.
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// Returns the address of the identity of a base object, 32 bytes.
    pub fn object_identity(&self, object: usize) -> *const u8 {
        self.objects[object].identity.as_bytes().as_ptr()
    }

    /// Returns the size of a base object in bytes.
    pub fn object_size(&self, object: usize) -> f64 {
        self.objects[object].size as f64
    }

    /// Returns the address of the reference to a base object, in UTF-8.
    pub fn object_reference(&self, object: usize) -> *const u8 {
        self.objects[object].reference.as_ptr()
    }

    /// Returns the length of the reference to a base object in bytes.
    pub fn object_reference_length(&self, object: usize) -> usize {
        self.objects[object].reference.len()
    }
}
