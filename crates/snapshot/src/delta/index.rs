//! The index of a snapshot, which says where the data of each block of its image is stored.

use alloc::string::String;
use alloc::vec::Vec;

use crate::delta::layout::{FOOTER_MAGIC, MARK, START, VERSION};
use crate::delta::mappings::push_mapping;
use crate::delta::read;
use crate::digest::Digest;
use crate::field::Fields;
use crate::format_error::FormatError;
use crate::frame::{Frame, FrameKind};
use crate::header::check_header;
use crate::layout::{FOOTER_LENGTH, HEADER_LENGTH};
use crate::limits::BLOCK_SIZE;
use crate::manifest::Manifest;

/// The index of a snapshot or of a delta: the files with its data, their frames, and the mappings
/// from blocks of the image to blocks of frames.
///
/// A parsed index is consistent: frames lie within their files and do not overlap, mappings cover the image
/// in order, and all values are within the limits of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    pub(crate) version: u16,
    pub(crate) image_size: u64,
    pub(crate) piece_size: u32,
    pub(crate) file_size: u64,
    pub(crate) depth: u32,
    pub(crate) level: Option<u8>,
    pub(crate) identity: Digest,
    pub(crate) objects: Vec<BaseObject>,
    pub(crate) frames: Vec<IndexedFrame>,
    pub(crate) mappings: Vec<Mapping>,
}

/// A file other than the delta itself that holds data of its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseObject {
    /// Identity of the snapshot.
    pub identity: Digest,
    /// Size of the file in bytes.
    pub size: u64,
    /// Path of the file relative to the folder of the delta; empty if it is somewhere else.
    pub reference: String,
}

/// A data frame, and the file that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedFrame {
    /// 0 for the file of the index itself; otherwise the number of the base object, counted from 1.
    pub object: u8,
    /// Offset of the frame in that file, in bytes.
    pub file_offset: u64,
    /// Length of the frame in that file, in bytes.
    pub compressed_length: u32,
    /// Length of the data in the frame, in bytes.
    pub raw_length: u32,
    /// Digest of the frame's bytes.
    pub digest: Digest,
}

/// Consecutive blocks of the image that are zeros, or consecutive blocks of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Length in blocks of [`BLOCK_SIZE`] bytes. The last block of the image may be shorter.
    pub blocks: u32,
    /// The blocks of a frame that hold the data, or `None` for zeros.
    pub data: Option<FrameBlocks>,
}

/// The place of a mapping's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameBlocks {
    /// Number of the frame in the index.
    pub frame: u32,
    /// The first block of that frame's data.
    pub block: u32,
}

impl Mapping {
    /// Returns whether `next` continues this mapping, so that both must be one.
    pub(crate) fn is_continued_by(&self, next: &Self) -> bool {
        match (self.data, next.data) {
            (None, None) => self.blocks < u32::MAX,
            (Some(one), Some(other)) => {
                one.frame == other.frame && one.block.checked_add(self.blocks) == Some(other.block)
            }
            _ => false,
        }
    }
}

impl Index {
    /// Length of the footer, from which [`tail_length`](Self::tail_length) computes the length of the
    /// tail, in bytes.
    pub const FOOTER_LENGTH: usize = FOOTER_LENGTH;

    /// Returns the length of the tail of a snapshot or a delta, in bytes.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if the footer is neither that of a snapshot nor that of a delta of this
    /// size.
    pub fn tail_length(
        footer: &[u8; Self::FOOTER_LENGTH],
        file_size: u64,
    ) -> Result<u64, FormatError> {
        if Self::is_delta(footer) {
            read::tail_length(footer, file_size)
        } else {
            Manifest::tail_length(footer, file_size)
        }
    }

    /// Returns whether a footer is that of a delta.
    pub fn is_delta(footer: &[u8; Self::FOOTER_LENGTH]) -> bool {
        footer.ends_with(&FOOTER_MAGIC.to_le_bytes())
    }

    /// Parses the index from the last bytes of a snapshot or a delta, at least
    /// [`tail_length`](Self::tail_length) of them.
    ///
    /// Allocates 60 bytes per frame and 16 per mapping of a delta, of which there are at most
    /// [`MAX_FRAMES`](crate::MAX_FRAMES) and [`MAX_MAPPINGS`](crate::MAX_MAPPINGS).
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if `docs/vhs.md` requires a reader to reject the file.
    ///
    /// # Complexity
    ///
    /// Linear in the length of the tail.
    pub fn parse(tail: &[u8], file_size: u64) -> Result<Self, FormatError> {
        match tail.last_chunk() {
            Some(footer) if Self::is_delta(footer) => read::parse(tail, file_size),
            _ => Manifest::parse(tail, file_size).map(Self::from),
        }
    }

    /// Length of the beginning of a delta, which [`check_start`](Self::check_start) checks, in bytes.
    pub const START_LENGTH: usize = START as usize;

    /// Checks the beginning of the file against the index: the header, and for a delta also the mark.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if they disagree.
    pub fn check_start(&self, bytes: &[u8; Self::START_LENGTH]) -> Result<(), FormatError> {
        let header = bytes.first_chunk().unwrap_or(&[0; HEADER_LENGTH]);
        check_header(header, self.version, self.image_size, self.piece_size)?;
        if self.version != VERSION {
            return Ok(());
        }
        let mut fields = Fields::new(&bytes[HEADER_LENGTH..], HEADER_LENGTH as u64);
        fields.number("mark", 8).is_magic(MARK)
    }

    /// Returns the size of the image in bytes.
    pub fn image_size(&self) -> u64 {
        self.image_size
    }

    /// Returns the piece size: the maximum number of bytes of data in a frame.
    pub fn piece_size(&self) -> u32 {
        self.piece_size
    }

    /// Returns the size of the file in bytes.
    pub fn file_size(&self) -> u64 {
        self.file_size
    }

    /// Returns how many deltas lead to this file: 0 for a snapshot, and for a delta one more than for its
    /// base.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the compression level of a delta's own frames. Snapshots do not record theirs.
    pub fn level(&self) -> Option<u8> {
        self.level
    }

    /// Returns the digest of the manifest, which is the identity of the snapshot.
    pub fn identity(&self) -> Digest {
        self.identity
    }

    /// Returns the files, other than its own, that hold data of the image. A snapshot has none.
    pub fn objects(&self) -> &[BaseObject] {
        &self.objects
    }

    /// Returns the data frames, ordered by object and offset.
    pub fn frames(&self) -> &[IndexedFrame] {
        &self.frames
    }

    /// Returns the mappings of the image, in order and without gaps.
    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// Returns the number of bytes of the image that are in frames.
    pub fn data_size(&self) -> u64 {
        self.segments().map(|segment| u64::from(segment.length)).sum()
    }

    /// Returns the segments of the image: the mappings of data, in bytes.
    pub fn segments(&self) -> impl Iterator<Item = Segment> {
        let mut image_offset = 0;
        self.mappings.iter().filter_map(move |mapping| {
            let start = image_offset;
            image_offset += u64::from(mapping.blocks) * u64::from(BLOCK_SIZE);
            let length = image_offset.min(self.image_size) - start;
            mapping.data.map(|FrameBlocks { frame, block }| Segment {
                image_offset: start,
                frame,
                frame_offset: block * BLOCK_SIZE,
                length: length as u32,
            })
        })
    }
}

/// A mapping of data, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the image, in bytes.
    pub image_offset: u64,
    /// Number of the frame in the index.
    pub frame: u32,
    /// Offset in the data of that frame, in bytes.
    pub frame_offset: u32,
    /// Length in bytes.
    pub length: u32,
}

impl IndexedFrame {
    /// Returns the frame, for a [`Decoder`](crate::Decoder). Its place in the image is unspecified, because
    /// its blocks may be in several places.
    pub fn to_frame(&self, index: u32) -> Frame {
        Frame {
            kind: FrameKind::Data,
            index,
            image_offset: 0,
            raw_length: self.raw_length,
            file_offset: self.file_offset,
            compressed_length: self.compressed_length,
            digest: self.digest,
        }
    }
}

/// Converts the manifest of a full snapshot.
impl From<Manifest> for Index {
    fn from(manifest: Manifest) -> Self {
        let mut index = Self {
            version: crate::layout::VERSION,
            image_size: manifest.image_size(),
            piece_size: manifest.piece_size(),
            file_size: manifest.file_size(),
            depth: 0,
            level: None,
            identity: manifest.identity(),
            objects: Vec::new(),
            frames: Vec::new(),
            mappings: Vec::new(),
        };
        for frame in manifest.frames() {
            let data = (frame.kind == FrameKind::Data)
                .then_some(FrameBlocks { frame: index.frames.len() as u32, block: 0 });
            let mapping = Mapping { blocks: frame.raw_length.div_ceil(BLOCK_SIZE), data };
            push_mapping(&mut index.mappings, mapping);
            if data.is_some() {
                index.frames.push(IndexedFrame {
                    object: 0,
                    file_offset: frame.file_offset,
                    compressed_length: frame.compressed_length,
                    raw_length: frame.raw_length,
                    digest: frame.digest,
                });
            }
        }
        index
    }
}
