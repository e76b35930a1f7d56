//! The record of a frame in linear memory.

use hedgerow_snapshot::{Frame, FrameKind};

use crate::digest_words::{from_words, to_words};

/// A frame in 64 bytes: its offset in the image and in the file, as 64-bit floating-point numbers; its
/// length in the image and in the file, its kind (0 for data, 1 for a hole; plus 256 times the number of
/// the object that holds it) and its index, as 32-bit integers; and its digest.
pub(crate) type FrameRecord = [u64; 8];

pub(crate) fn to_record(frame: &Frame, object: u8) -> FrameRecord {
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let mut record = [0; 8];
    record[0] = (frame.image_offset as f64).to_bits();
    record[1] = (frame.file_offset as f64).to_bits();
    record[2] = pair(frame.raw_length, frame.compressed_length);
    record[3] =
        pair(u32::from(frame.kind == FrameKind::Hole) | u32::from(object) << 8, frame.index);
    to_words(&frame.digest, &mut record[4..]);
    record
}

pub(crate) fn from_record(record: &FrameRecord) -> Frame {
    Frame {
        kind: if record[3] as u8 == 0 { FrameKind::Data } else { FrameKind::Hole },
        index: (record[3] >> 32) as u32,
        image_offset: f64::from_bits(record[0]) as u64,
        raw_length: record[2] as u32,
        file_offset: f64::from_bits(record[1]) as u64,
        compressed_length: (record[2] >> 32) as u32,
        digest: from_words(&record[4..]),
    }
}
