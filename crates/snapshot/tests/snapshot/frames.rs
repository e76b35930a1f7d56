//! Frames that disagree with the manifest although their digests match. Each is refused, and the
//! decoder can be used for the next frame.

use hedgerow_snapshot::{
    Decoder, Decompressor, Digest, Fault, FormatError, Frame, FrameKind, Manifest,
};
use zstd_safe::{CCtx, CParameter};

use crate::support::{
    forge::{Forged, hole, skippable},
    generate::{noise, text},
    snapshot::{bytes_of, decode, open},
};

/// Returns the error of decoding a frame with these bytes, whose entry claims `raw_length` bytes.
fn refusal(kind: FrameKind, raw_length: u32, bytes: &[u8]) -> FormatError {
    let good = text(4096, 9);
    let mut forged = Forged::new(1 << 17);
    forged.data(&good).frame(kind, raw_length, bytes);
    let file = forged.file();
    let manifest = open(&file).unwrap();
    let [good_frame, bad_frame] = manifest.frames() else { panic!("two frames") };

    let mut decoder = Decoder::new(manifest.piece_size()).unwrap();
    let error = decode(&mut decoder, &file, bad_frame).unwrap_err();
    assert!(decode(&mut decoder, &file, good_frame).unwrap() == good);
    assert_eq!(decode(&mut decoder, &file, bad_frame), Err(error));
    assert_eq!((error.frame, error.offset), (Some(1), bad_frame.file_offset));
    error
}

/// Returns the error of decoding a data frame with these bytes.
fn data_refusal(raw_length: u32, bytes: &[u8]) -> (&'static str, Fault) {
    let error = refusal(FrameKind::Data, raw_length, bytes);
    (error.field, error.fault)
}

fn compressed(raw: &[u8], parameters: &[CParameter]) -> Vec<u8> {
    let mut compressor = CCtx::create();
    for parameter in parameters {
        compressor.set_parameter(*parameter).unwrap();
    }
    let mut out = vec![0; zstd_safe::compress_bound(raw.len())];
    let length = compressor.compress2(&mut out[..], raw).unwrap();
    out.truncate(length);
    out
}

fn plain(raw: &[u8]) -> Vec<u8> {
    compressed(raw, &[])
}

const fn exactly(expected: u64, found: u64) -> Fault {
    Fault::NotExactly { expected, found }
}

#[test]
fn frames_that_decode_to_another_length_are_refused() {
    for raw in [text(5000, 1), noise(5000, 1), vec![0; 5000]] {
        let frame = plain(&raw);
        for claimed in [1, 4999, 5001, 1 << 17] {
            if frame.len() > claimed as usize + 70 {
                continue;
            }
            let expected = ("content size of the frame", exactly(claimed.into(), 5000));
            assert_eq!(data_refusal(claimed, &frame), expected);
        }
    }
    // Frames whose content size agrees with the manifest, but which decode to fewer or more bytes.
    let raw = text(5000, 1);
    for claimed in [4999_u16, 5001, 5256] {
        let mut frame = plain(&raw);
        assert_eq!(frame[4] >> 6, 1, "a content size of two bytes");
        frame[5..7].copy_from_slice(&(claimed - 256).to_le_bytes());
        let (field, fault) = data_refusal(claimed.into(), &frame);
        assert_eq!(field, "frame");
        assert!(matches!(fault, Fault::Zstd(_)), "{fault}");
    }
}

#[test]
fn bytes_that_are_not_a_zstd_frame_are_refused() {
    let (field, fault) = data_refusal(1000, &noise(900, 1));
    assert_eq!(field, "magic number of the frame");
    assert!(matches!(fault, Fault::Magic { expected: 0xFD2F_B528, .. }));
    for length in 1..4 {
        assert_eq!(data_refusal(1000, &plain(b"short")[..length]).0, "magic number of the frame");
    }
    let frame = plain(&text(1000, 1));
    for length in 4..frame.len() {
        let (field, fault) = data_refusal(1000, &frame[..length]);
        assert_eq!(field, "frame");
        assert!(matches!(fault, Fault::Zstd(_)), "{fault}");
    }
}

#[test]
fn skippable_frames_in_place_of_data_are_refused() {
    let expected = Fault::Magic { expected: 0xFD2F_B528, found: 0x184D_2A50 };
    let frame = skippable(0x184D_2A50, b"content");
    assert_eq!(data_refusal(7, &frame), ("magic number of the frame", expected));
    // The same after a data frame.
    let raw = text(1000, 1);
    let both = [plain(&raw), frame].concat();
    let length = both.len() as u64;
    let expected = ("length of the zstd frame", exactly(length, length - 15));
    assert_eq!(data_refusal(1000, &both), expected);
}

#[test]
fn two_frames_in_place_of_one_are_refused() {
    let (first, second) = (plain(&text(600, 1)), plain(&text(400, 2)));
    let both = [&first[..], &second].concat();
    let expected = exactly(both.len() as u64, first.len() as u64);
    assert_eq!(data_refusal(1000, &both), ("length of the zstd frame", expected));
    // The same for a frame with other bytes after it.
    for more in [&[0][..], &[0xff; 30]] {
        let longer = [&first[..], more].concat();
        assert_eq!(data_refusal(600, &longer).0, "length of the zstd frame");
    }
}

#[test]
fn frames_that_need_a_dictionary_are_refused() {
    // A frame of 5 bytes that names the dictionary 7.
    let raw = plain(b"hedge");
    assert_eq!(raw[4], 0x20, "a single segment with a size of one byte");
    let frame = [&raw[..4], &[0x21, 7], &raw[5..]].concat();
    let (field, fault) = data_refusal(5, &frame);
    assert_eq!(field, "frame");
    let Fault::Zstd(reason) = fault else { panic!("{fault}") };
    assert!(reason.contains("Dictionary"), "{reason}");
}

#[test]
fn frames_without_a_content_size_are_refused() {
    let frame = compressed(&text(1000, 1), &[CParameter::ContentSizeFlag(false)]);
    let expected = ("frame", Fault::Zstd("no content size"));
    assert_eq!(data_refusal(1000, &frame), expected);
    let error = refusal(FrameKind::Data, 1000, &frame).to_string();
    assert!(error.starts_with("frame 1: frame at byte "), "{error}");
    assert!(error.ends_with(": expected one whole zstd frame, found: no content size"), "{error}");
}

#[test]
fn a_wrong_checksum_is_refused_unless_checksums_are_disabled_and_none_is_required() {
    let raw = text(1000, 1);
    let mut forged = Forged::new(4096);
    forged.frame(FrameKind::Data, 1000, &plain(&raw));
    let file = forged.file();
    let mut decoder = Decoder::new(4096).unwrap();
    let frame = open(&file).unwrap().frames()[0];
    assert!(decode(&mut decoder, &file, &frame).unwrap() == raw);

    let mut frame = compressed(&raw, &[CParameter::ChecksumFlag(true)]);
    *frame.last_mut().unwrap() ^= 1;
    assert!(matches!(data_refusal(1000, &frame), ("frame", Fault::Zstd(_))));

    let mut forged = Forged::new(4096);
    forged.frame(FrameKind::Data, 1000, &frame);
    let file = forged.file();
    let mut decoder = Decoder::new(4096).unwrap().without_checksums();
    let frame = open(&file).unwrap().frames()[0];
    assert!(decode(&mut decoder, &file, &frame).unwrap() == raw);
}

#[test]
fn hole_frames_with_any_other_byte_are_refused() {
    let valid = hole(4096);
    for at in 0..valid.len() {
        let mut frame = valid.clone();
        frame[at] ^= 1;
        let error = refusal(FrameKind::Hole, 4096, &frame);
        assert_eq!((error.field, error.fault), ("frame", Fault::Hole));
    }
    let error = refusal(FrameKind::Hole, 4096, &hole(4095)).to_string();
    assert!(error.ends_with("expected the bytes of a hole frame, found others"), "{error}");
}

#[test]
fn damaged_frames_with_a_matching_digest_decode_to_their_length_or_are_refused() {
    let raw = text(3000, 5);
    let valid = compressed(&raw, &[CParameter::ChecksumFlag(true)]);
    let mut decoder = Decoder::new(1 << 12).unwrap();
    for bit in 0..valid.len() * 8 {
        let mut bytes = valid.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let mut forged = Forged::new(1 << 12);
        forged.frame(FrameKind::Data, 3000, &bytes);
        let file = forged.file();
        let manifest = Manifest::parse(&file, file.len() as u64).unwrap();
        let frame: Frame = manifest.frames()[0];
        assert!(bytes_of(&file, &frame) == bytes);
        match decode(&mut decoder, &file, &frame) {
            // For example, an unused bit of the header.
            Ok(out) => assert!(out == raw, "bit {bit}"),
            Err(error) => assert!(error.frame == Some(0)),
        }
    }
}

#[test]
fn a_frame_that_no_manifest_can_hold_is_refused_before_its_length_is_used() {
    let mut decompressor = Decompressor::new(1 << 17).unwrap();
    for (kind, raw_length) in
        [(FrameKind::Hole, 0), (FrameKind::Hole, u32::MAX), (FrameKind::Data, u32::MAX)]
    {
        let frame = Frame {
            kind,
            index: 0,
            image_offset: 0,
            raw_length,
            file_offset: 0,
            compressed_length: 0,
            digest: Digest::of(b""),
        };
        let error = decompressor.check(&frame).unwrap_err();
        assert_eq!(decompressor.decompress(&frame, b"", &mut []), Err(error));
    }
}
