//! Deltas.

mod damage;
mod encoder;
mod frames;
mod manifest;
mod mappings;
mod memory;
mod references;
mod round_trip;
mod zstd;

use hedgerow_snapshot::{Fault, FormatError, Index};

use crate::support::{forge_delta::ForgedDelta, generate::text};

/// Returns a delta with two base objects, two frames of its own, and three frames of the base objects.
fn forged() -> ForgedDelta {
    let mut forged = ForgedDelta::new(8192);
    forged.base(10_000, "base.vhs").base(20_000, "");
    forged.own(&text(8192, 1)).own(&text(100, 2));
    forged.frame(1, 32, 50, 8192).frame(1, 100, 60, 4096).frame(2, 40, 70, 4096);
    forged.mapping(1, 2, 0).mapping(1, 0, 0).mapping(1, 2, 1).hole(3);
    forged.mapping(1, 0, 1).mapping(1, 3, 0).mapping(1, 4, 0).mapping(1, 1, 0);
    forged.image_size -= 4096 - 100;
    forged
}

fn refusal(file: &[u8]) -> FormatError {
    Index::parse(file, file.len() as u64).unwrap_err()
}

/// Asserts that a delta with this change is refused for this reason, at an offset that is a function of the
/// changed delta.
#[track_caller]
fn assert_refused(
    change: impl FnOnce(&mut ForgedDelta),
    (field, frame): (&str, Option<u32>),
    offset: impl FnOnce(&ForgedDelta) -> u64,
    fault: Fault,
) {
    let mut changed = forged();
    change(&mut changed);
    let error = refusal(&changed.file());
    let found = (error.field, error.frame, error.offset, error.fault);
    assert_eq!(found, (field, frame, offset(&changed), fault));
}

#[track_caller]
fn assert_accepted(change: impl FnOnce(&mut ForgedDelta)) -> Index {
    let mut changed = forged();
    change(&mut changed);
    let file = changed.file();
    Index::parse(&file, file.len() as u64).unwrap()
}

const fn exactly(expected: u64, found: u64) -> Fault {
    Fault::NotExactly { expected, found }
}

const fn between(least: u64, most: u64, found: u64) -> Fault {
    Fault::NotBetween { least, most, found }
}
