//! The encoder of deltas, which assembles a delta from the pieces that changed.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::delta::index::{BaseObject, FrameBlocks, Index, IndexedFrame, Mapping};
use crate::delta::layout::{MARK, START, VERSION};
use crate::delta::mappings::{BaseMappings, push_mapping};
use crate::delta::piece_encoder::DeltaRun;
use crate::delta::reference::is_reference;
use crate::delta::write::Content;
use crate::encode_error::EncodeError;
use crate::header::header;
use crate::layout::max_compressed_length;
use crate::limits::{BLOCK_SIZE, MAX_BASE_OBJECTS, MAX_FRAMES, MAX_IMAGE_SIZE, MAX_MAPPINGS};
use crate::options::Options;
use crate::piece_encoder::Run;

const UNIT: u64 = BLOCK_SIZE as u64;

/// Assembles a delta from the pieces of an image that changed, in their order.
///
/// The file is the [`header`](Self::header), then the bytes of each piece that was
/// [pushed](Self::push), then the bytes that [`finish`](Self::finish) returns.
///
/// Blocks that were not pushed are as in the base, and zeros beyond its end. Frames and base objects that
/// no block uses any more are dropped.
///
/// # Example
///
/// ```
/// use hedgerow_snapshot::{DeltaEncoder, DeltaPieceEncoder, Index, Options};
/// # use hedgerow_snapshot::{Encoder, PieceEncoder};
///
/// let options = Options::default();
/// # let image = vec![1; 8192];
/// # let mut encoder = Encoder::new(image.len() as u64, &options)?;
/// # let mut file = encoder.header();
/// # for (run, bytes) in PieceEncoder::new(&options)?.encode(&image)? {
/// #     file.extend(encoder.push(&run)?);
/// #     file.extend(bytes);
/// # }
/// # file.extend(encoder.finish()?);
/// let base = Index::parse(&file, file.len() as u64)?;
/// let mut changed = image.clone();
/// changed[4096..].fill(2);
///
/// let mut pieces = DeltaPieceEncoder::new(&options)?;
/// let mut encoder = DeltaEncoder::new(8192, &options, base)?;
/// let mut delta = encoder.header();
/// let piece = pieces.encode(&changed, Some(&image), &[0..2])?;
/// encoder.push(0, piece.frames, piece.runs)?;
/// delta.extend(piece.bytes);
/// delta.extend(encoder.finish(&["base.vhs"])?);
///
/// let index = Index::parse(&delta, delta.len() as u64)?;
/// assert_eq!(index.objects()[0].reference, "base.vhs");
/// assert_eq!(index.mappings().len(), 2);
/// # Ok::<_, Box<dyn core::error::Error>>(())
/// ```
pub struct DeltaEncoder {
    image_size: u64,
    options: Options,
    base: Index,
    frames: Vec<IndexedFrame>,
    changes: Vec<Change>,
    /// The block after the last run.
    block: u64,
    /// The offset after the last frame.
    file_offset: u64,
    failed: Option<EncodeError>,
}

/// Blocks of the image that changed. `mapping` refers to the delta's own frames.
#[derive(Clone, Copy)]
struct Change {
    block: u64,
    mapping: Mapping,
}

impl DeltaEncoder {
    /// Creates an encoder for an image of `image_size` bytes.
    ///
    /// # Errors
    ///
    /// Returns an [`EncodeError`] if the size of the image or an option is beyond its limit, or if the piece
    /// size differs from that of the base.
    pub fn new(image_size: u64, options: &Options, base: Index) -> Result<Self, EncodeError> {
        options.check()?;
        if image_size > MAX_IMAGE_SIZE {
            return Err(EncodeError::ImageSize { found: image_size });
        }
        if options.piece_size != base.piece_size() {
            let (expected, found) = (base.piece_size(), options.piece_size);
            return Err(EncodeError::BasePieceSize { expected, found });
        }
        Ok(Self {
            image_size,
            options: *options,
            base,
            frames: Vec::new(),
            changes: Vec::new(),
            block: 0,
            file_offset: START,
            failed: None,
        })
    }

    /// Returns the beginning of the file.
    pub fn header(&self) -> Vec<u8> {
        let mut bytes = header(VERSION, self.image_size, self.options.piece_size);
        bytes.extend(MARK.to_le_bytes());
        bytes
    }

    /// Adds a piece that may have changed, at a block of the image behind those of earlier pieces. Write the
    /// bytes of its frames to the file next.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::Run`], [`EncodeError::Frame`], [`EncodeError::Frames`] or
    /// [`EncodeError::Mappings`]. After an error, every call returns the same error.
    pub fn push(
        &mut self,
        block: u64,
        frames: &[Run],
        runs: &[DeltaRun],
    ) -> Result<(), EncodeError> {
        if self.failed.is_none() {
            self.failed = self.add(block, frames, runs).err();
        }
        self.failed.map_or(Ok(()), Err)
    }

    fn add(&mut self, block: u64, frames: &[Run], runs: &[DeltaRun]) -> Result<(), EncodeError> {
        if block < self.block {
            return Err(self.bad_run(block, 0));
        }
        self.block = block;
        let first_frame = self.frames.len();
        if frames.len() > MAX_FRAMES as usize - first_frame {
            return Err(EncodeError::Frames);
        }
        for frame in frames {
            self.add_frame(frame)?;
        }
        let mut used = vec![0; frames.len()];
        for run in runs {
            self.add_run(run, first_frame, &mut used)?;
        }
        // A frame that no run uses would be a gap between the frames of the file.
        if used.contains(&0) {
            return Err(self.bad_run(block, 0));
        }
        Ok(())
    }

    fn add_frame(&mut self, frame: &Run) -> Result<(), EncodeError> {
        let Run::Data { raw_length, compressed_length, digest } = *frame else {
            return Err(self.bad_run(self.block, 0));
        };
        let image_offset = self.block.saturating_mul(UNIT);
        if !(1..=self.options.piece_size).contains(&raw_length) {
            let (most, found) = (self.options.piece_size.into(), raw_length.into());
            return Err(EncodeError::Run { image_offset, most, found });
        }
        let most = max_compressed_length(raw_length);
        if !(1..=most).contains(&compressed_length) {
            return Err(EncodeError::Frame { image_offset, most, found: compressed_length });
        }
        let (object, file_offset) = (0, self.file_offset);
        self.frames.push(IndexedFrame {
            object,
            file_offset,
            compressed_length,
            raw_length,
            digest,
        });
        self.file_offset += u64::from(compressed_length);
        Ok(())
    }

    /// Adds the next run. `used` has, for each frame from `first_frame`, the block after the last one used.
    fn add_run(
        &mut self,
        run: &DeltaRun,
        first_frame: usize,
        used: &mut [u32],
    ) -> Result<(), EncodeError> {
        let (DeltaRun::Unchanged { blocks }
        | DeltaRun::Zeros { blocks }
        | DeltaRun::Data { blocks, .. }) = *run;
        let (block, bad_run) = (self.block, self.bad_run(self.block, blocks));
        let end = block.saturating_add(blocks.into());
        if blocks == 0 || end > self.image_size.div_ceil(UNIT) {
            return Err(bad_run);
        }
        let data = if let DeltaRun::Data { frame, block: first, .. } = *run {
            let used = used.get_mut(frame as usize).ok_or(bad_run)?;
            let number = first_frame as u32 + frame;
            let raw_length = u64::from(self.frames[number as usize].raw_length);
            let length = self.image_size.min(end * UNIT) - block * UNIT;
            if first < *used || u64::from(first) * UNIT + length > raw_length {
                return Err(bad_run);
            }
            *used = first + blocks;
            Some(FrameBlocks { frame: number, block: first })
        } else {
            None
        };
        self.block = end;
        if matches!(run, DeltaRun::Unchanged { .. }) {
            return Ok(());
        }
        if self.changes.len() == MAX_MAPPINGS as usize {
            return Err(EncodeError::Mappings);
        }
        self.changes.push(Change { block, mapping: Mapping { blocks, data } });
        Ok(())
    }

    fn bad_run(&self, block: u64, blocks: u32) -> EncodeError {
        let image_offset = block.saturating_mul(UNIT);
        let most = self.image_size.saturating_sub(image_offset);
        EncodeError::Run { image_offset, most, found: u64::from(blocks) * UNIT }
    }

    /// Returns the end of the file: the manifest and the footer.
    ///
    /// `references` are the paths of the base and of the base objects in its index, in that order, each
    /// relative to the folder of the delta, or empty if the file is somewhere else.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::Reference`], [`EncodeError::BaseObjects`], [`EncodeError::Frames`] or
    /// [`EncodeError::Mappings`]; [`EncodeError::Length`] if the image grew, the last block of the base is
    /// incomplete, and that block was not pushed as changed; or the error of an earlier call.
    pub fn finish(self, references: &[&str]) -> Result<Vec<u8>, EncodeError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut objects = self.objects(references)?;
        let mut mappings = self.mappings()?;
        let mut frames = self.used_frames(&mut mappings);
        keep_used(&mut objects, &mut frames);
        if objects.len() > MAX_BASE_OBJECTS as usize {
            return Err(EncodeError::BaseObjects { found: objects.len() as u32 });
        }
        if frames.len() > MAX_FRAMES as usize {
            return Err(EncodeError::Frames);
        }
        if mappings.len() > MAX_MAPPINGS as usize {
            return Err(EncodeError::Mappings);
        }
        let content = Content {
            options: &self.options,
            image_size: self.image_size,
            depth: self.base.depth.saturating_add(1),
            objects: &objects,
            frames: &frames,
            mappings: &mappings,
        };
        Ok(content.to_tail())
    }

    /// Returns the base and its base objects, with new references.
    fn objects(&self, references: &[&str]) -> Result<Vec<BaseObject>, EncodeError> {
        let (identity, size) = (self.base.identity, self.base.file_size);
        let mut objects = vec![BaseObject { identity, size, reference: String::new() }];
        objects.extend_from_slice(&self.base.objects);
        if references.len() != objects.len() || !references.iter().all(|it| is_reference(it)) {
            return Err(EncodeError::Reference);
        }
        for (object, reference) in objects.iter_mut().zip(references) {
            object.reference = String::from(*reference);
        }
        Ok(objects)
    }

    /// Returns the mappings of the image. Frames of the base are counted after the delta's own.
    fn mappings(&self) -> Result<Vec<Mapping>, EncodeError> {
        let mut mappings = Vec::new();
        let mut base = BaseMappings::new(&self.base, self.frames.len() as u32, self.image_size);
        for Change { block, mapping } in &self.changes {
            base.copy(*block, &mut mappings)?;
            base.skip(block + u64::from(mapping.blocks));
            push_mapping(&mut mappings, *mapping);
        }
        base.copy(self.image_size.div_ceil(UNIT), &mut mappings)?;
        Ok(mappings)
    }

    /// Returns the frames that mappings use, and numbers them anew. Objects are counted from the delta.
    fn used_frames(&self, mappings: &mut [Mapping]) -> Vec<IndexedFrame> {
        let base = self.base.frames.iter();
        let base = base.map(|frame| IndexedFrame { object: frame.object + 1, ..*frame });
        let mut numbers = vec![None; self.frames.len() + self.base.frames.len()];
        for data in mappings.iter().filter_map(|mapping| mapping.data) {
            numbers[data.frame as usize] = Some(0);
        }
        let mut frames = Vec::new();
        for (number, frame) in numbers.iter_mut().zip(self.frames.iter().copied().chain(base)) {
            if let Some(number) = number {
                *number = frames.len() as u32;
                frames.push(frame);
            }
        }
        for data in mappings.iter_mut().filter_map(|mapping| mapping.data.as_mut()) {
            data.frame = numbers[data.frame as usize].unwrap_or_default();
        }
        frames
    }
}

/// Drops base objects without frames, and numbers the others anew.
fn keep_used(objects: &mut Vec<BaseObject>, frames: &mut [IndexedFrame]) {
    let mut kept = Vec::new();
    for frame in frames.iter_mut().filter(|frame| frame.object > 0) {
        if kept.last() != Some(&frame.object) {
            kept.push(frame.object);
        }
        frame.object = kept.len() as u8;
    }
    let mut number = 0;
    objects.retain(|_| {
        number += 1;
        kept.contains(&number)
    });
}
