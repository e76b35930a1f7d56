//! Images and options of every kind.

use std::{
    fmt,
    ops::{Deref, Range},
};

use hedgerow_snapshot::Options;
use hedgerow_tests_random::Random;
use proptest::{collection::vec, prelude::*};

/// A block of an image.
pub const BLOCK: usize = 4096;

/// An image of stretches that are zero, compressible or incompressible.
pub struct Image {
    stretches: Vec<Stretch>,
    bytes: Vec<u8>,
}

/// The length, kind and seed of a stretch.
type Stretch = (usize, u8, u64);

impl Image {
    fn new(stretches: Vec<Stretch>) -> Self {
        let bytes = stretches.iter().flat_map(|&(length, kind, seed)| match kind {
            0 => text(length, seed),
            1 => noise(length, seed),
            2 => vec![0; length],
            // Blocks that are zero except for their last byte.
            _ => (1..=length).map(|at| u8::from(at % BLOCK == 0 || at == length)).collect(),
        });
        let bytes = bytes.collect();
        Self { stretches, bytes }
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stretches.fmt(f)
    }
}

/// Images of every kind, with or without a partial last block.
pub fn image() -> impl Strategy<Value = Image> {
    let blocks = |range: Range<usize>| range.prop_map(|blocks| blocks * BLOCK);
    let length = prop_oneof![
        4 => blocks(1..20),
        4 => blocks(15..18),
        2 => blocks(200..300),
        1 => Just(1 << 20),
        1 => 1..9_000_usize,
    ];
    vec((length, 0..4_u8, any::<u64>()), 0..7).prop_map(Image::new)
}

/// Options that cut such an image into many pieces.
pub fn options() -> impl Strategy<Value = Options> {
    (12..=20_u32, prop_oneof![4 => 1..=3, 1 => 4..=7])
        .prop_map(|(exponent, level)| Options { level, piece_size: 1 << exponent })
}

/// Returns incompressible bytes.
pub fn noise(length: usize, seed: u64) -> Vec<u8> {
    let words = Random(seed).take(length.div_ceil(8)).flat_map(u64::to_le_bytes);
    words.take(length).collect()
}

/// Returns bytes that compress to a third.
pub fn text(length: usize, seed: u64) -> Vec<u8> {
    const WORDS: [&str; 8] =
        ["hedge", "row", "field", "gate ", "thorn\n", "blossom", " in ", " of the "];
    let words = Random(seed).flat_map(|number| WORDS[number as usize % WORDS.len()].bytes());
    words.take(length).collect()
}
