//! The record of a run in linear memory.

use hedgerow_snapshot::Run;

use crate::digest_words::{from_words, to_words};

/// A run in 48 bytes: its length in the image, as a 64-bit floating-point number; its length in the
/// file, as a 32-bit integer, which is 0 for zeros; 32 unused bits; and its digest.
pub(crate) type RunRecord = [u64; 6];

pub(crate) fn to_record(run: &Run) -> RunRecord {
    let mut record = [0; 6];
    match run {
        Run::Zeros { length } => record[0] = (*length as f64).to_bits(),
        Run::Data { raw_length, compressed_length, digest } => {
            record[0] = f64::from(*raw_length).to_bits();
            record[1] = u64::from(*compressed_length);
            to_words(digest, &mut record[2..]);
        }
    }
    record
}

pub(crate) fn from_record(record: &RunRecord) -> Run {
    let length = f64::from_bits(record[0]);
    let compressed_length = record[1] as u32;
    if compressed_length == 0 {
        return Run::Zeros { length: length as u64 };
    }
    let digest = from_words(&record[2..]);
    Run::Data { raw_length: length as u32, compressed_length, digest }
}
