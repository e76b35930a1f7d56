//! Snapshot cases: encoding and decoding a frame, and parsing a manifest.

use std::hint::black_box;

use hedgerow_snapshot::{Decoder, Digest, Encoder, Manifest, Options, PieceEncoder, Run};
use hedgerow_tests_random::Random;

use crate::case::{Case, Prepared};

/// Length of the image: one piece without a hole.
const IMAGE: usize = 1 << 20;

/// Frames in the manifest.
const FRAMES: u64 = 4_096;

/// Returns the cases of one image.
pub fn cases() -> impl Iterator<Item = Case> {
    [
        Case::new("snapshot: encode a frame of 1 MiB", encode),
        Case::new("snapshot: decode a frame of 1 MiB", decode),
        Case::new("snapshot: digest 1 MiB", digest),
        Case::new("snapshot: parse a manifest of 4,096 frames", parse_manifest),
    ]
    .into_iter()
}

/// Returns an image of words and numbers, which zstd compresses to about a third.
fn image() -> Vec<u8> {
    const WORDS: [&str; 8] =
        ["hedge", "row", "field", "gate ", "thorn\n", "blossom", " in ", " of the "];
    let parts = Random(1).flat_map(|number| {
        let word = WORDS[number as usize % WORDS.len()];
        word.bytes().chain((number >> 32).to_le_bytes().into_iter().take(3))
    });
    parts.take(IMAGE).collect()
}

fn piece_encoder() -> PieceEncoder {
    PieceEncoder::new(&Options::default()).expect("memory")
}

fn encode() -> Prepared {
    let mut pieces = piece_encoder();
    Prepared::each(vec![image()], move |image| {
        black_box(pieces.encode(image).expect("memory").count());
    })
}

fn decode() -> Prepared {
    let mut pieces = piece_encoder();
    let image = image();
    let (run, bytes) = pieces.encode(&image).expect("memory").next().expect("a frame");
    let bytes = bytes.to_vec();
    let (tail, file_size) = tail_of(IMAGE as u64, [run]);
    let manifest = Manifest::parse(&tail, file_size).expect("a valid manifest");
    let frame = manifest.frames()[0];
    let mut decoder = Decoder::new(manifest.piece_size()).expect("memory");
    Prepared::each(vec![vec![0; IMAGE]], move |out| {
        decoder.begin(&frame).expect("a frame that is not too long");
        decoder.push(&bytes);
        decoder.finish(out).expect("a whole frame");
    })
}

fn digest() -> Prepared {
    Prepared::each(vec![image()], |image| {
        black_box(Digest::of(image));
    })
}

fn parse_manifest() -> Prepared {
    let raw_length = Options::default().piece_size;
    let runs = Random(2).take(FRAMES as usize).map(|number| Run::Data {
        raw_length,
        compressed_length: raw_length / 3 + number as u32 % (raw_length / 2),
        digest: Digest::of(&number.to_le_bytes()),
    });
    let (tail, file_size) = tail_of(FRAMES * u64::from(raw_length), runs);
    Prepared::each(vec![tail], move |tail| {
        black_box(Manifest::parse(tail, file_size)).expect("a valid manifest");
    })
}

/// Returns the tail of a file, and the length of the file. The bytes of its frames are not needed.
fn tail_of(image_size: u64, runs: impl IntoIterator<Item = Run>) -> (Vec<u8>, u64) {
    let mut encoder = Encoder::new(image_size, &Options::default()).expect("valid options");
    let mut length = encoder.header().len() as u64;
    for run in runs {
        length += encoder.push(&run).expect("a run of the image").len() as u64;
        if let Run::Data { compressed_length, .. } = run {
            length += u64::from(compressed_length);
        }
    }
    let tail = encoder.finish().expect("a whole image");
    length += tail.len() as u64;
    (tail, length)
}
