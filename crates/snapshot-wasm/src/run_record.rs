//! A run of the image as it crosses the border.

use hedgerow_snapshot::{Digest, Run};

/// A run as 48 bytes: its length in the image, as a floating point number of 64 bits; its length in the
/// file, of 32 bits, which is 0 for zeros; 32 bits that are not used; and its digest.
pub(crate) type RunRecord = [u64; 6];

pub(crate) fn to_record(run: &Run) -> RunRecord {
    let mut record = [0; 6];
    match run {
        Run::Zeros { length } => record[0] = (*length as f64).to_bits(),
        Run::Data { raw_length, compressed_length, digest } => {
            record[0] = f64::from(*raw_length).to_bits();
            record[1] = u64::from(*compressed_length);
            let (digest, _) = digest.as_bytes().as_chunks();
            for (to, from) in record[2..].iter_mut().zip(digest) {
                *to = u64::from_le_bytes(*from);
            }
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
    let mut digest = [0; Digest::LENGTH];
    for (to, from) in digest.chunks_exact_mut(8).zip(&record[2..]) {
        to.copy_from_slice(&from.to_le_bytes());
    }
    let digest = Digest::from_bytes(digest);
    Run::Data { raw_length: length as u32, compressed_length, digest }
}
