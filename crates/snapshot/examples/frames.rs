//! Writes frames, and what native code decodes them to, for tests of the decoder in WebAssembly:
//! `frames grid|files|mutated SEED COUNT FILE ...`.
//!
//! - `grid`: the beginning of each file, at every level and in every window.
//! - `files`: parts of the files, which together cover them all.
//! - `mutated`: frames of such parts, damaged.
//!
//! For each frame: the length of the reason for which it is refused, if it is; its record, as `decode.wasm`
//! reads it; the digest of its data, or zeros; the reason; and the frame.

use std::{
    env, fs,
    io::{self, BufWriter, Write},
    ops::RangeInclusive,
};

use hedgerow_snapshot::{
    Decompressor, Digest, Frame, FrameKind, MAX_LEVEL, MAX_PIECE_SIZE, MIN_LEVEL,
};
use hedgerow_tests_random::Random;
use zstd_safe::{CCtx, CParameter};

/// The windows, as powers of two.
const WINDOWS: RangeInclusive<u32> = 10..=MAX_PIECE_SIZE.ilog2();

/// The largest part that every level compresses.
const LARGE: usize = 96 << 10;

/// The parts of files have from 2^6 to 2^18 bytes; those to damage up to 2^15.
const MIN_PART: usize = 6;
const MAX_PART: usize = 18;
const MAX_DAMAGED: usize = 15;

/// The number of frames to damage.
const ORIGINALS: usize = 2000;

fn main() {
    let mut arguments = env::args().skip(1);
    let mut next = || arguments.next().expect("a kind, a seed and a count");
    let (kind, seed, count) = (next(), next(), next());
    let (seed, count) = (seed.parse().expect("a seed"), count.parse().expect("a count"));
    let files: Vec<Vec<u8>> = arguments.map(|file| fs::read(file).expect("a file")).collect();
    let mut writer = FrameWriter::new(seed);
    match kind.as_str() {
        "grid" => files.iter().for_each(|file| writer.grid(file)),
        "files" => writer.parts(&files, count),
        "mutated" => writer.mutated(&files, count),
        _ => panic!("expected grid, files or mutated"),
    }
    writer.out.flush().expect("a reader");
}

struct FrameWriter {
    random: Random,
    compressor: CCtx<'static>,
    decompressor: Decompressor,
    data: Vec<u8>,
    out: BufWriter<io::Stdout>,
}

impl FrameWriter {
    fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            compressor: CCtx::create(),
            decompressor: Decompressor::new(MAX_PIECE_SIZE).expect("memory").without_checksums(),
            data: vec![0; MAX_PIECE_SIZE as usize],
            out: BufWriter::new(io::stdout()),
        }
    }

    fn grid(&mut self, file: &[u8]) {
        for level in MIN_LEVEL..=MAX_LEVEL {
            for window in WINDOWS {
                // The strongest levels take seconds for 16 MiB.
                let most =
                    if level == 1 + window as i32 % 3 { MAX_PIECE_SIZE as usize } else { LARGE };
                let raw = &file[..file.len().min(3 << window >> 1).min(most)];
                self.write_whole(raw, level, window);
            }
        }
    }

    fn parts(&mut self, files: &[Vec<u8>], count: usize) {
        for at in 0..count {
            let raw = self.part(&files[at % files.len()], MAX_PART);
            let (level, window) = self.parameters();
            // The strongest levels take long.
            let level = if raw.len() > LARGE { level.min(9) } else { level };
            self.write_whole(raw, level, window);
        }
    }

    fn mutated(&mut self, files: &[Vec<u8>], count: usize) {
        let originals: Vec<_> = (0..ORIGINALS)
            .map(|at| {
                let raw = self.part(&files[at % files.len()], MAX_DAMAGED);
                let (level, window) = self.parameters();
                (self.compress(raw, level, window), raw.len())
            })
            .collect();
        for _ in 0..count {
            let (original, raw_length) = self.random.pick(&originals);
            let mut bytes = original.clone();
            self.damage(&mut bytes);
            self.write(&bytes, *raw_length);
        }
    }

    /// Returns a random part of a file; short ones are as probable as long ones.
    fn part<'a>(&mut self, file: &'a [u8], max: usize) -> &'a [u8] {
        let power = self.random.within(MIN_PART..max);
        let length = self.random.within(1..2 << power).min(file.len());
        let start = self.random.within(0..file.len() - length + 1);
        &file[start..start + length]
    }

    /// Returns a random level and window.
    fn parameters(&mut self) -> (i32, u32) {
        let level = self.random.within(MIN_LEVEL as usize..MAX_LEVEL as usize + 1) as i32;
        (level, self.random.within(10..25) as u32)
    }

    fn compress(&mut self, raw: &[u8], level: i32, window: u32) -> Vec<u8> {
        let parameters = [
            CParameter::CompressionLevel(level),
            CParameter::WindowLog(window),
            CParameter::ChecksumFlag(self.random.once_in(2)),
        ];
        for parameter in parameters {
            self.compressor.set_parameter(parameter).expect("a valid parameter");
        }
        let mut frame = vec![0; zstd_safe::compress_bound(raw.len())];
        let length = self.compressor.compress2(&mut frame[..], raw).expect("memory");
        frame.truncate(length);
        frame
    }

    /// Writes the frame of `raw`, which must decode to the same bytes.
    fn write_whole(&mut self, raw: &[u8], level: i32, window: u32) {
        let bytes = self.compress(raw, level, window);
        self.write(&bytes, raw.len());
        assert!(self.data[..raw.len()] == *raw, "level {level}, window {window}");
    }

    /// Changes, moves or removes bytes, most often near the beginning, where the tables of the first block are.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.random.within(1..4) {
            let near = bytes.len().min(if self.random.once_in(2) { 64 } else { usize::MAX });
            let at = self.random.within(0..near);
            match self.random.within(0..12) {
                0..6 => bytes[at] ^= 1 << self.random.within(0..8),
                6..9 => bytes[at] = self.random.number() as u8,
                9 => bytes[at..].reverse(),
                10 => {
                    let from = self.random.within(0..bytes.len());
                    let length = self.random.within(0..bytes.len() - at.max(from));
                    bytes.copy_within(from..from + length, at);
                }
                _ => {
                    // Keeps the length, which the block headers determine.
                    bytes.remove(at);
                    bytes.push(self.random.number() as u8);
                }
            }
        }
    }

    fn write(&mut self, bytes: &[u8], raw_length: usize) {
        let digest = Digest::of(bytes);
        let frame = Frame {
            kind: FrameKind::Data,
            index: 0,
            image_offset: 0,
            raw_length: raw_length as u32,
            file_offset: 0,
            compressed_length: bytes.len() as u32,
            digest,
        };
        let data = &mut self.data[..raw_length];
        let (reason, decoded) = match self.decompressor.decompress(&frame, bytes, data) {
            Ok(()) => (String::new(), *Digest::of(data).as_bytes()),
            Err(error) => (error.to_string(), [0; Digest::LENGTH]),
        };
        let mut record = [0; 64];
        record[16..20].copy_from_slice(&frame.raw_length.to_le_bytes());
        record[20..24].copy_from_slice(&frame.compressed_length.to_le_bytes());
        record[32..].copy_from_slice(digest.as_bytes());
        let length = (reason.len() as u32).to_le_bytes();
        for part in [&length[..], &record, &decoded, reason.as_bytes(), bytes] {
            self.out.write_all(part).expect("a reader");
        }
    }
}
