//! The frames of a snapshot.

use crate::digest::Digest;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Compressed data of the image.
    Data,
    /// Zeros, which need be neither read nor written.
    Hole,
}

/// A frame, as listed in a manifest: its place in the file and its place in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Index of the frame in the manifest, counted from 0.
    pub index: u32,
    /// Offset in the image, in bytes.
    pub image_offset: u64,
    /// Length in the image, in bytes.
    pub raw_length: u32,
    /// Offset in the file, in bytes.
    pub file_offset: u64,
    /// Length in the file, in bytes.
    pub compressed_length: u32,
    /// Digest of the frame's bytes in the file.
    pub digest: Digest,
}
