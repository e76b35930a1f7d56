//! The frames of a snapshot, as its manifest lists them.

use crate::digest::Digest;

/// What a frame stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A piece of the image, compressed.
    Data,
    /// Zeros, which need not be read, nor written.
    Hole,
}

/// A frame: where its bytes lie in the file, and where what they stand for belongs in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What the frame stands for.
    pub kind: FrameKind,
    /// Its number, counted from 0, holes counted.
    pub index: u32,
    /// Where what it stands for begins in the image, in bytes.
    pub image_offset: u64,
    /// How long what it stands for is, in bytes.
    pub raw_length: u32,
    /// Where it begins in the file, in bytes.
    pub file_offset: u64,
    /// How long it is in the file, in bytes.
    pub compressed_length: u32,
    /// The digest of its bytes in the file.
    pub digest: Digest,
}
