//! Any bytes with a matching digest decode to the claimed length or return an error, and do not affect
//! the next frame.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_snapshot::{Decoder, Digest, Frame, FrameKind};
use hedgerow_snapshot_fuzz::{forge::hole, oracle::unzstd};
use libfuzzer_sys::fuzz_target;
use zstd_safe::{CCtx, CParameter};

const PIECE_SIZE: u32 = 1 << 16;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    bytes: Bytes<'a>,
    raw_length: Option<u32>,
    compressed_length: Option<u32>,
    is_hole: bool,
    part: u8,
}

#[derive(Arbitrary, Debug)]
enum Bytes<'a> {
    Any(&'a [u8]),
    /// A zstd frame of these bytes, repeated, with some bytes replaced.
    Compressed {
        raw: &'a [u8],
        times: u8,
        level: u8,
        flags: [bool; 2],
        changes: Vec<(u16, u8)>,
    },
    Hole {
        length: u16,
        changes: Vec<(u16, u8)>,
    },
}

impl Bytes<'_> {
    /// Returns the bytes, and the length they were compressed from.
    fn make(&self) -> (Vec<u8>, usize) {
        let (mut bytes, raw_length, changes) = match self {
            Self::Any(bytes) => return (bytes.to_vec(), 100),
            Self::Compressed { raw, times, level, flags: [checksum, size], changes } => {
                let mut raw = raw.repeat((*times).into());
                raw.truncate(PIECE_SIZE as usize);
                let mut compressor = CCtx::create();
                for parameter in [
                    CParameter::CompressionLevel((level % 20).into()),
                    CParameter::ChecksumFlag(*checksum),
                    CParameter::ContentSizeFlag(*size),
                ] {
                    compressor.set_parameter(parameter).unwrap();
                }
                let mut out = vec![0; zstd_safe::compress_bound(raw.len())];
                let length = compressor.compress2(&mut out[..], &raw).unwrap();
                out.truncate(length);
                (out, raw.len(), changes)
            }
            Self::Hole { length, changes } => {
                (hole((*length).into()), usize::from(*length), changes)
            }
        };
        for (at, byte) in changes {
            let length = bytes.len();
            bytes[usize::from(*at) % length] = *byte;
        }
        (bytes, raw_length)
    }
}

thread_local! {
    static DECODER: std::cell::RefCell<Decoder> =
        std::cell::RefCell::new(Decoder::new(PIECE_SIZE).unwrap());
}

fuzz_target!(|input: Input<'_>| {
    let (bytes, raw_length) = input.bytes.make();
    let frame = Frame {
        kind: if input.is_hole { FrameKind::Hole } else { FrameKind::Data },
        index: 3,
        image_offset: 0,
        raw_length: input.raw_length.unwrap_or(raw_length as u32),
        file_offset: 32,
        compressed_length: input.compressed_length.unwrap_or(bytes.len() as u32),
        digest: Digest::of(&bytes),
    };
    DECODER.with_borrow_mut(|decoder| {
        let found = decode(decoder, &frame, &bytes, input.part);
        if let Some(out) = found {
            assert_eq!(out.len(), frame.raw_length as usize);
            // zstd's streaming decoder agrees, unless it refuses the window as too large.
            if let Ok(expected) = unzstd(&bytes) {
                assert!(out == expected);
            }
        }
        let good = hole(4096);
        let frame = Frame {
            kind: FrameKind::Hole,
            raw_length: 4096,
            compressed_length: good.len() as u32,
            digest: Digest::of(&good),
            ..frame
        };
        assert_eq!(decode(decoder, &frame, &good, 0), Some(vec![0; 4096]));
        // A hole frame can also be decoded as data.
        let frame = Frame { kind: FrameKind::Data, ..frame };
        assert_eq!(decode(decoder, &frame, &good, 7), Some(vec![0; 4096]));
    });
});

fn decode(decoder: &mut Decoder, frame: &Frame, bytes: &[u8], part: u8) -> Option<Vec<u8>> {
    decoder.begin(frame).ok()?;
    for part in bytes.chunks(usize::from(part) + 1) {
        decoder.push(part);
    }
    let mut out = vec![0xaa; frame.raw_length as usize];
    decoder.finish(&mut out).ok()?;
    Some(out)
}
