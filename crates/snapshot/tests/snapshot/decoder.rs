//! Correct and incorrect uses of a decoder.

use hedgerow_snapshot::{Decoder, Digest, Fault, Frame, FrameKind, Options};
use proptest::{collection::vec, prelude::*};

use crate::support::{
    generate::{image, options, text},
    snapshot::{bytes_of, create, open},
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn frames_that_arrive_in_parts_of_any_size_are_decoded(
        image in image(),
        options in options(),
        sizes in vec(prop_oneof![0..10_usize, 0..5_000_usize], 1..20),
        is_read_in_place: bool,
    ) {
        let file = create(&image, &options);
        let manifest = open(&file).unwrap();
        let mut decoder = Decoder::new(manifest.piece_size()).unwrap();
        let mut sizes = sizes.into_iter().chain([4096]).cycle();
        for frame in manifest.frames() {
            decoder.begin(frame).unwrap();
            // Bytes after the frame are not taken.
            let mut rest = &file[frame.file_offset as usize..];
            while !decoder.missing().is_empty() {
                let part = &rest[..sizes.next().unwrap().min(rest.len())];
                let taken = part.len().min(decoder.missing().len());
                if is_read_in_place {
                    decoder.missing()[..taken].copy_from_slice(&part[..taken]);
                    decoder.filled(part.len());
                } else {
                    prop_assert_eq!(decoder.push(part), taken);
                }
                rest = &rest[taken..];
            }
            prop_assert_eq!(decoder.push(b"more"), 0);
            let mut out = vec![0xaa; frame.raw_length as usize];
            decoder.finish(&mut out).unwrap();
            prop_assert!(out == image[frame.image_offset as usize..][..out.len()]);
        }
    }
}

/// Returns a file with a data frame and a hole, and the two frames.
fn two_frames() -> (Vec<u8>, [Frame; 2]) {
    let mut image = text(4096, 1);
    image.resize(5 * 4096, 0);
    let file = create(&image, &Options { piece_size: 4096, ..Options::default() });
    let frames = open(&file).unwrap().frames().try_into().unwrap();
    (file, frames)
}

#[test]
fn a_decoder_without_a_frame_takes_no_bytes_and_does_not_finish() {
    let (file, [data, _]) = two_frames();
    let mut decoder = Decoder::new(4096).unwrap();
    let mut out = vec![0; 4096];
    for _ in 0..2 {
        assert_eq!(decoder.push(b"bytes"), 0);
        assert!(decoder.missing().is_empty());
        decoder.filled(5);
        let error = decoder.finish(&mut out).unwrap_err();
        assert_eq!((error.field, error.frame, error.fault), ("frame", None, Fault::NotBegun));
        assert_eq!(error.to_string(), "frame at byte 0: no frame was begun; call begin() first");
        // The same again after a frame was finished.
        decoder.begin(&data).unwrap();
        decoder.push(bytes_of(&file, &data));
        decoder.finish(&mut out).unwrap();
    }
}

#[test]
fn an_incomplete_frame_is_refused() {
    let (file, [data, _]) = two_frames();
    let bytes = bytes_of(&file, &data);
    let mut decoder = Decoder::new(4096).unwrap();
    for found in 0..bytes.len() {
        decoder.begin(&data).unwrap();
        decoder.push(&bytes[..found]);
        let error = decoder.finish(&mut [0; 4096]).unwrap_err();
        let expected = bytes.len() as u64;
        let fault = Fault::NotExactly { expected, found: found as u64 };
        assert_eq!((error.field, error.frame, error.fault), ("frame", Some(0), fault));
    }
    // Beginning a frame discards an incomplete one.
    decoder.begin(&data).unwrap();
    decoder.push(&bytes[..7]);
    decoder.begin(&data).unwrap();
    assert_eq!(decoder.push(bytes), bytes.len());
    assert_eq!(decoder.finish(&mut [0; 4096]), Ok(()));
}

#[test]
fn a_buffer_of_another_length_is_refused() {
    let (file, [data, hole]) = two_frames();
    let mut decoder = Decoder::new(4096).unwrap();
    let mut finish = |frame: &Frame, length| {
        decoder.begin(frame).unwrap();
        decoder.push(bytes_of(&file, frame));
        let mut out = vec![0xaa; length];
        decoder.finish(&mut out).map(|()| out)
    };
    for found in [0, 1, 4095, 4097] {
        let error = finish(&data, found).unwrap_err();
        let fault = Fault::NotExactly { expected: 4096, found: found as u64 };
        assert_eq!(
            (error.field, error.frame, error.fault),
            ("buffer for the frame", Some(0), fault)
        );
    }
    for found in [1, 16_383, 16_385] {
        let error = finish(&hole, found).unwrap_err();
        assert_eq!((error.field, error.frame), ("buffer for the frame", Some(1)));
    }
    assert!(finish(&hole, 0).unwrap().is_empty());
    assert_eq!(finish(&hole, 16_384).unwrap(), vec![0; 16_384]);
}

#[test]
fn frames_beyond_the_limits_of_a_decoder_are_refused() {
    let (_, [data, hole]) = two_frames();
    let mut decoder = Decoder::new(4096).unwrap();
    let mut refusal = |frame: Frame| {
        let error = decoder.begin(&frame).unwrap_err();
        assert!(decoder.missing().is_empty());
        assert_eq!((error.frame, error.offset), (Some(frame.index), frame.file_offset));
        (error.field, error.fault)
    };
    let between = |least, most, found| Fault::NotBetween { least, most, found };
    for raw_length in [0, 4097, u32::MAX] {
        let fault = between(1, 4096, raw_length.into());
        assert_eq!(refusal(Frame { raw_length, ..data }), ("raw length", fault));
    }
    for compressed_length in [0, 4096 + 16 + 65, u32::MAX] {
        let fault = between(1, 4096 + 16 + 64, compressed_length.into());
        assert_eq!(refusal(Frame { compressed_length, ..data }), ("compressed length", fault));
    }
    for raw_length in [0, (1 << 26) + 1, u32::MAX] {
        let fault = between(1, 1 << 26, raw_length.into());
        assert_eq!(refusal(Frame { raw_length, ..hole }), ("raw length", fault));
    }
    let fault = Fault::NotExactly { expected: 18, found: 19 };
    assert_eq!(refusal(Frame { compressed_length: 19, ..hole }), ("compressed length", fault));
}

#[test]
fn decoders_of_any_piece_size_can_be_made() {
    let frame = Frame {
        kind: FrameKind::Data,
        index: 0,
        image_offset: 0,
        raw_length: 1 << 24,
        file_offset: 32,
        compressed_length: 1,
        digest: Digest::of(b""),
    };
    for (piece_size, max) in [(0, 0), (1, 1), (1 << 24, 1 << 24), (u32::MAX, 1 << 24)] {
        let mut decoder = Decoder::new(piece_size).unwrap();
        let error = decoder.begin(&Frame { raw_length: max + 1, ..frame }).unwrap_err();
        let fault = Fault::NotBetween { least: 1, most: max.into(), found: u64::from(max) + 1 };
        assert_eq!(error.fault, fault);
        if max > 0 {
            assert_eq!(decoder.begin(&Frame { raw_length: max, ..frame }), Ok(()));
        }
        // Every decoder accepts the longest hole.
        let (kind, raw_length, compressed_length) = (FrameKind::Hole, 1 << 26, 2062);
        decoder.begin(&Frame { kind, raw_length, compressed_length, ..frame }).unwrap();
        assert_eq!(decoder.missing().len(), 2062);
    }
}
