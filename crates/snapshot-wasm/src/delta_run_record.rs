//! The record of a run of a delta in linear memory.

use hedgerow_snapshot::DeltaRun;

/// A run in 12 bytes: its number of blocks; its frame, or [`ZEROS`] or [`UNCHANGED`]; and the first block
/// of that frame's data.
pub(crate) type DeltaRunRecord = [u32; 3];

const ZEROS: u32 = u32::MAX;
const UNCHANGED: u32 = u32::MAX - 1;

pub(crate) fn to_record(run: &DeltaRun) -> DeltaRunRecord {
    match *run {
        DeltaRun::Unchanged { blocks } => [blocks, UNCHANGED, 0],
        DeltaRun::Zeros { blocks } => [blocks, ZEROS, 0],
        DeltaRun::Data { blocks, frame, block } => [blocks, frame, block],
    }
}

pub(crate) fn from_record(&[blocks, frame, block]: &DeltaRunRecord) -> DeltaRun {
    match frame {
        UNCHANGED => DeltaRun::Unchanged { blocks },
        ZEROS => DeltaRun::Zeros { blocks },
        _ => DeltaRun::Data { blocks, frame, block },
    }
}
