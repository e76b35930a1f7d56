//! Frames that are not as the manifest says, though their digests are right. Each is refused, and the
//! decoder is none the worse for it.

use hedgerow_snapshot::{Decoder, Fault, FormatError, Frame, FrameKind, Manifest};
use zstd_safe::{CCtx, CParameter};

use crate::support::{
    forge::{Forged, hole, skippable},
    generate::{noise, text},
    snapshot::{bytes_of, decode, open},
};

/// What a decoder says of a frame of these bytes, which are to stand for `raw_length` bytes.
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

/// What a decoder says of data of these bytes.
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
fn frames_of_more_or_less_than_was_promised_are_refused() {
    for raw in [text(5000, 1), noise(5000, 1), vec![0; 5000]] {
        let frame = plain(&raw);
        for promised in [1, 4999, 5001, 1 << 17] {
            if frame.len() > promised as usize + 70 {
                continue;
            }
            let expected = ("content size of the frame", exactly(promised.into(), 5000));
            assert_eq!(data_refusal(promised, &frame), expected);
        }
    }
    // One that promises itself what the manifest promises, and decodes to less, or to more.
    let raw = text(5000, 1);
    for promised in [4999_u16, 5001, 5256] {
        let mut frame = plain(&raw);
        assert_eq!(frame[4] >> 6, 1, "a content size of two bytes");
        frame[5..7].copy_from_slice(&(promised - 256).to_le_bytes());
        let (field, fault) = data_refusal(promised.into(), &frame);
        assert_eq!(field, "frame");
        assert!(matches!(fault, Fault::Zstd(_)), "{fault}");
    }
}

#[test]
fn what_is_no_frame_of_zstd_is_refused() {
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
fn skippable_frames_are_no_data() {
    let expected = Fault::Magic { expected: 0xFD2F_B528, found: 0x184D_2A50 };
    let frame = skippable(0x184D_2A50, b"content");
    assert_eq!(data_refusal(7, &frame), ("magic number of the frame", expected));
    // Nor behind a frame of data.
    let raw = text(1000, 1);
    let both = [plain(&raw), frame].concat();
    let length = both.len() as u64;
    let expected = ("length of the zstd frame", exactly(length, length - 15));
    assert_eq!(data_refusal(1000, &both), expected);
}

#[test]
fn two_frames_in_the_place_of_one_are_refused() {
    let (first, second) = (plain(&text(600, 1)), plain(&text(400, 2)));
    let both = [&first[..], &second].concat();
    let expected = exactly(both.len() as u64, first.len() as u64);
    assert_eq!(data_refusal(1000, &both), ("length of the zstd frame", expected));
    // Nor with anything else behind it.
    for more in [&[0][..], &[0xff; 30]] {
        let longer = [&first[..], more].concat();
        assert_eq!(data_refusal(600, &longer).0, "length of the zstd frame");
    }
}

#[test]
fn frames_that_need_a_dictionary_are_refused() {
    // The frame of 5 bytes, of a dictionary whose number is 7.
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
fn frames_need_no_checksum_but_one_that_is_wrong_is_refused_unless_it_is_passed_over() {
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
fn holes_are_these_bytes_and_no_others() {
    let right = hole(4096);
    for place in 0..right.len() {
        let mut frame = right.clone();
        frame[place] ^= 1;
        let error = refusal(FrameKind::Hole, 4096, &frame);
        assert_eq!((error.field, error.fault), ("frame", Fault::Hole));
    }
    let error = refusal(FrameKind::Hole, 4096, &hole(4095)).to_string();
    assert!(error.ends_with("expected the bytes that stand for a hole, found others"), "{error}");
}

/// Any bytes, with the right digest: as many as were promised come out, or an error.
#[test]
fn damaged_frames_of_right_digests_decode_to_their_length_or_are_refused() {
    let raw = text(3000, 5);
    let right = compressed(&raw, &[CParameter::ChecksumFlag(true)]);
    let mut decoder = Decoder::new(1 << 12).unwrap();
    for bit in 0..right.len() * 8 {
        let mut bytes = right.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let mut forged = Forged::new(1 << 12);
        forged.frame(FrameKind::Data, 3000, &bytes);
        let file = forged.file();
        let manifest = Manifest::parse(&file, file.len() as u64).unwrap();
        let frame: Frame = manifest.frames()[0];
        assert!(bytes_of(&file, &frame) == bytes);
        match decode(&mut decoder, &file, &frame) {
            // Such as a bit of the header that is not used.
            Ok(out) => assert!(out == raw, "bit {bit}"),
            Err(error) => assert!(error.frame == Some(0)),
        }
    }
}
