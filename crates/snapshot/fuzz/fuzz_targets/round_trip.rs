//! Any image is restored with any options, by this crate and by zstd.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_snapshot::{Options, PieceEncoder, Run};
use hedgerow_snapshot_fuzz::{
    oracle::unzstd,
    snapshot::{assemble, create, encode, restore, verify},
};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    stretches: Vec<Stretch<'a>>,
    exponent: u8,
    level: u8,
}

#[derive(Arbitrary, Debug)]
enum Stretch<'a> {
    Bytes(&'a [u8]),
    Repeated(&'a [u8], u16),
    Zeros(u16),
    Blocks(u8, u8),
    /// Zeros up to the end of the last block.
    Align,
}

/// The maximum length of an image.
const MAX_LENGTH: usize = 1 << 20;

impl Stretch<'_> {
    fn add_to(&self, image: &mut Vec<u8>) {
        match *self {
            Self::Bytes(bytes) => image.extend(bytes),
            Self::Repeated(bytes, times) => {
                let times = usize::from(times).min(MAX_LENGTH / bytes.len().max(1));
                image.extend(bytes.repeat(times));
            }
            Self::Zeros(count) => image.resize(image.len() + usize::from(count), 0),
            Self::Blocks(count, byte) => {
                image.resize(image.len() + usize::from(count) * 4096, byte);
            }
            Self::Align => image.resize(image.len().next_multiple_of(4096), 0),
        }
        image.truncate(MAX_LENGTH);
    }
}

fuzz_target!(|input: Input<'_>| {
    let mut image = Vec::new();
    input.stretches.iter().for_each(|stretch| stretch.add_to(&mut image));
    let options = Options {
        piece_size: 1 << (12 + input.exponent % 9),
        level: i32::from(input.level % 5) + 1,
    };
    let file = create(&image, &options);
    assert!(restore(&file).unwrap() == image);
    assert!(verify(&file).unwrap() == image);
    assert!(unzstd(&file).unwrap() == image);

    // Encoding the pieces in another order, and pushing zeros block by block, gives the same file.
    let mut encoder = PieceEncoder::new(&options).unwrap();
    let pieces = image.chunks(options.piece_size as usize).rev();
    let mut runs: Vec<_> = pieces.map(|piece| encode(&mut encoder, piece)).collect();
    runs.reverse();
    let runs = runs.into_iter().flatten().flat_map(|(run, bytes)| match run {
        Run::Zeros { length } => {
            let blocks = (0..length).step_by(4096).map(|at| (length - at).min(4096));
            blocks.map(|length| (Run::Zeros { length }, Vec::new())).collect()
        }
        Run::Data { .. } => vec![(run, bytes)],
    });
    assert!(assemble(image.len() as u64, &options, runs).unwrap() == file);
});
