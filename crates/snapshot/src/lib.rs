#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod decoder;
mod decompressor;
mod delta;
mod digest;
mod encode_error;
mod encoder;
mod entry;
mod field;
mod format_error;
mod frame;
mod header;
mod hole;
mod layout;
mod limits;
mod manifest;
mod manifest_head;
mod options;
mod out_of_memory;
mod piece_encoder;
mod ranges;
mod runs;
mod seek_table;
mod skippable;

pub use decoder::Decoder;
pub use decompressor::Decompressor;
pub use delta::{
    BaseObject, DeltaEncoder, DeltaPiece, DeltaPieceEncoder, DeltaRun, FrameBlocks, Index,
    IndexedFrame, Mapping, Segment, Unchanged,
};
pub use digest::{Digest, DigestTextError};
pub use encode_error::EncodeError;
pub use encoder::Encoder;
pub use format_error::{Fault, FormatError};
pub use frame::{Frame, FrameKind};
pub use layout::max_compressed_length;
pub use limits::{
    BLOCK_SIZE, MAX_BASE_OBJECTS, MAX_FRAMES, MAX_HOLE_LENGTH, MAX_IMAGE_SIZE, MAX_LEVEL,
    MAX_MAPPINGS, MAX_PIECE_SIZE, MAX_REFERENCE_LENGTH, MIN_HOLE_LENGTH, MIN_LEVEL, MIN_PIECE_SIZE,
};
pub use manifest::Manifest;
pub use options::Options;
pub use out_of_memory::OutOfMemory;
pub use piece_encoder::{PieceEncoder, Run};
pub use ranges::ranges;
pub use runs::data_runs;
