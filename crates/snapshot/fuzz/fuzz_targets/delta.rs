//! Any chain of images is restored from deltas, whatever is known of the changes.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_snapshot::{EncodeError, Options};
use hedgerow_snapshot_fuzz::{
    delta::{Delta, Files, open_index, restore_from},
    oracle::unzstd,
    snapshot::create,
};
use libfuzzer_sys::fuzz_target;

const BLOCK: usize = 4096;

/// The maximum number of blocks of an image.
const MAX_BLOCKS: usize = 128;

#[derive(Arbitrary, Debug)]
struct Input {
    exponent: u8,
    image: Vec<(u8, u8)>,
    generations: Vec<Generation>,
}

#[derive(Arbitrary, Debug)]
struct Generation {
    changes: Vec<Change>,
    length: Option<u32>,
    is_everything: bool,
    has_base: bool,
}

#[derive(Arbitrary, Debug)]
enum Change {
    Fill { at: u8, blocks: u8, byte: u8 },
    Byte { at: u8, byte: u8 },
    Move { from: u8, to: u8 },
}

impl Change {
    fn apply(&self, image: &mut [u8]) {
        let size = image.len();
        let start = |at: u8| usize::from(at) * BLOCK % size;
        match *self {
            Self::Fill { at, blocks, byte } => {
                let start = start(at);
                image[start..size.min(start + usize::from(blocks) * BLOCK)].fill(byte);
            }
            Self::Byte { at, byte } => image[start(at)] = byte,
            Self::Move { from, to } => {
                let (from, to) = (start(from), start(to));
                let length = BLOCK.min(size - from.max(to));
                image.copy_within(from..from + length, to);
            }
        }
    }
}

fn is_same(base: &[u8], image: &[u8], block: usize) -> bool {
    let of = |bytes: &[u8]| bytes.chunks(BLOCK).nth(block).unwrap_or_default().to_vec();
    let (old, new) = (of(base), of(image));
    if old.is_empty() { new.iter().all(|byte| *byte == 0) } else { old.starts_with(&new) }
}

fuzz_target!(|input: Input| {
    let options = Options { level: 1, piece_size: 1 << (12 + input.exponent % 6) };
    let stretches = input
        .image
        .iter()
        .flat_map(|(blocks, byte)| std::iter::repeat_n(*byte, usize::from(*blocks) * BLOCK));
    let mut image: Vec<u8> = stretches.take(MAX_BLOCKS * BLOCK).collect();
    let mut file = create(&image, &options);
    let mut files = Files::from([(open_index(&file).unwrap().identity(), file.clone())]);
    for generation in input.generations.iter().take(12) {
        let old = image.clone();
        if let Some(length) = generation.length {
            image.resize(length as usize % (MAX_BLOCKS * BLOCK), 0);
        }
        if !image.is_empty() {
            generation.changes.iter().for_each(|change| change.apply(&mut image));
        }
        let blocks = 0..image.len().div_ceil(BLOCK);
        let changed = blocks.filter(|at| generation.is_everything || !is_same(&old, &image, *at));
        let changed: Vec<_> = changed.map(|at| at..at + 1).collect();
        let base = open_index(&file).unwrap();
        let references = vec!["folder/base.vhs"; base.objects().len() + 1];
        let delta = Delta {
            image: &image,
            base_image: generation.has_base.then_some(&old[..]),
            base,
            changed: &changed,
            references: &references,
        };
        file = match delta.create(&options) {
            Err(EncodeError::BaseObjects { found: 9 }) => create(&image, &options),
            delta => {
                let delta = delta.unwrap();
                assert!(unzstd(&delta).is_err());
                delta
            }
        };
        assert!(restore_from(&files, &file).unwrap() == image);
        files.insert(open_index(&file).unwrap().identity(), file.clone());
    }
});
