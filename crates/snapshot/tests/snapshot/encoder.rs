//! The limits of an encoder, tested on both sides.

use hedgerow_snapshot::{
    Digest, EncodeError, Encoder, MAX_FRAMES, MAX_IMAGE_SIZE, MAX_PIECE_SIZE, Manifest, Options,
    PieceEncoder, Run, max_compressed_length,
};

use crate::support::snapshot::{assemble, create};

/// Returns a run of data whose frame has one byte.
fn data(raw_length: u32) -> Run {
    Run::Data { raw_length, compressed_length: 1, digest: Digest::of(b"") }
}

/// Returns the error of pushing `run` after others, in an image of this size with pieces of 64 KiB.
fn refusal(image_size: u64, before: &[Run], run: Run) -> EncodeError {
    let options = Options { piece_size: 1 << 16, ..Options::default() };
    let mut encoder = Encoder::new(image_size, &options).unwrap();
    for run in before {
        encoder.push(run).unwrap();
    }
    let error = encoder.push(&run).unwrap_err();
    // Every later call returns the same error.
    assert_eq!(encoder.push(&Run::Zeros { length: 4096 }), Err(error));
    assert_eq!(encoder.finish(), Err(error));
    error
}

#[test]
fn options_are_accepted_at_their_limit_and_refused_beyond_it() {
    for level in [1, 19] {
        for piece_size in [1 << 12, 1 << 24] {
            let options = Options { level, piece_size };
            assert_eq!(options.check(), Ok(()));
            assert!(PieceEncoder::new(&options).is_ok());
            assert!(Encoder::new(MAX_IMAGE_SIZE, &options).is_ok());
        }
    }
    let default = Options::default();
    for level in [0, -1, 20, i32::MIN, i32::MAX] {
        let options = Options { level, ..default };
        let error = EncodeError::Level { found: level };
        assert_eq!(options.check(), Err(error));
        assert_eq!(PieceEncoder::new(&options).err(), Some(error));
        assert_eq!(Encoder::new(0, &options).err(), Some(error));
        assert_eq!(error.to_string(), format!("level: expected 1 to 19, found {level}"));
    }
    for piece_size in [0, 1, 1 << 11, (1 << 12) - 1, (1 << 20) + 1, 1 << 25, u32::MAX] {
        let error = EncodeError::PieceSize { found: piece_size };
        assert_eq!(Options { piece_size, ..default }.check(), Err(error));
        let expected = "piece size: expected a power of two from 4096 to 16777216, found ";
        assert_eq!(error.to_string(), format!("{expected}{piece_size}"));
    }
    let error = Encoder::new(MAX_IMAGE_SIZE + 1, &default).err().unwrap();
    assert_eq!(error, EncodeError::ImageSize { found: MAX_IMAGE_SIZE + 1 });
    assert_eq!(
        error.to_string(),
        "image: expected at most 17592186044416 bytes, found 17592186044417"
    );
}

#[test]
fn pieces_longer_than_the_piece_size_are_refused() {
    let mut pieces = PieceEncoder::new(&Options { piece_size: 4096, level: 1 }).unwrap();
    let error = pieces.encode(&[1; 4097]).err().unwrap();
    assert_eq!(error, EncodeError::Piece { most: 4096, found: 4097 });
    assert_eq!(error.to_string(), "piece: expected at most 4096 bytes, found 4097");
    assert_eq!(pieces.encode(&[1; 4096]).unwrap().count(), 1);
}

#[test]
fn runs_that_do_not_fit_are_refused() {
    let run = |image_offset, most, found| EncodeError::Run { image_offset, most, found };
    let zeros = |length| Run::Zeros { length };
    // Empty; after the end; beyond it; inside a block; beyond a piece.
    assert_eq!(refusal(8192, &[], zeros(0)), run(0, 8192, 0));
    assert_eq!(refusal(8192, &[], data(0)), run(0, 8192, 0));
    assert_eq!(refusal(8192, &[zeros(8192)], zeros(4096)), run(8192, 0, 4096));
    assert_eq!(refusal(8192, &[zeros(4096)], zeros(8192)), run(4096, 4096, 8192));
    assert_eq!(refusal(8192, &[], zeros(u64::MAX)), run(0, 8192, u64::MAX));
    assert_eq!(refusal(8192, &[], zeros(4097)), run(0, 8192, 4097));
    assert_eq!(refusal(8192, &[], data(1)), run(0, 8192, 1));
    assert_eq!(refusal(1 << 20, &[], data((1 << 16) + 4096)), run(0, 1 << 16, (1 << 16) + 4096));
    assert_eq!(refusal(1 << 20, &[zeros(4096)], data(1 << 16)), run(4096, 61_440, 1 << 16));
    assert_eq!(
        run(4096, 61_440, 7).to_string(),
        "run at byte 4096 of the image: expected 1 to 61440 bytes, in blocks of 4096, found 7"
    );
}

#[test]
fn frames_beyond_the_limits_of_readers_are_refused() {
    let max = max_compressed_length(8192);
    assert_eq!(max, 8192 + 32 + 64);
    let run = |compressed_length| Run::Data {
        raw_length: 8192,
        compressed_length,
        digest: Digest::of(b""),
    };
    for found in [0, max + 1, u32::MAX] {
        let error = refusal(1 << 20, &[], run(found));
        assert_eq!(error, EncodeError::Frame { image_offset: 0, most: max, found });
        assert_eq!(
            error.to_string(),
            format!("frame at byte 0 of the image: expected 1 to {max} bytes, found {found}")
        );
    }
    let options = Options { piece_size: 1 << 14, ..Options::default() };
    let file = assemble(8192, &options, [(run(max), vec![0; max as usize])]).unwrap();
    assert_eq!(Manifest::parse(&file, file.len() as u64).unwrap().frames().len(), 1);
}

#[test]
fn finishing_an_incomplete_image_is_refused() {
    let encoder = Encoder::new(5, &Options::default()).unwrap();
    let error = encoder.finish().unwrap_err();
    assert_eq!(error, EncodeError::Length { expected: 5, found: 0 });
    assert_eq!(error.to_string(), "image: expected 5 bytes, found 0");
}

#[test]
fn the_largest_image_has_the_maximum_number_of_frames_and_one_more_is_refused() {
    let options = Options { piece_size: MAX_PIECE_SIZE, ..Options::default() };
    let mut encoder = Encoder::new(MAX_IMAGE_SIZE, &options).unwrap();
    for _ in 0..MAX_FRAMES {
        encoder.push(&data(MAX_PIECE_SIZE)).unwrap();
    }
    let tail = encoder.finish().unwrap();
    let file_size = 32 + u64::from(MAX_FRAMES) + tail.len() as u64;
    assert_eq!(Manifest::tail_length(tail.last_chunk().unwrap(), file_size), Ok(tail.len() as u64));
    let manifest = Manifest::parse(&tail, file_size).unwrap();
    assert_eq!(manifest.frames().len(), MAX_FRAMES as usize);
    assert_eq!((manifest.image_size(), manifest.data_size()), (MAX_IMAGE_SIZE, MAX_IMAGE_SIZE));
    assert_eq!(manifest.frame_at(MAX_IMAGE_SIZE - 1), manifest.frames().last());

    let mut encoder = Encoder::new(MAX_IMAGE_SIZE, &options).unwrap();
    for _ in 0..MAX_FRAMES {
        encoder.push(&data(4096)).unwrap();
    }
    let error = encoder.push(&data(4096)).unwrap_err();
    assert_eq!(error, EncodeError::Frames);
    assert_eq!(error.to_string(), "expected at most 1048576 frames, found more; use larger pieces");
    assert_eq!(encoder.finish(), Err(error));
}

#[test]
fn a_hole_that_exceeds_the_number_of_frames_is_refused() {
    let options = Options { piece_size: 4096, ..Options::default() };
    let size = (u64::from(MAX_FRAMES) + 1) * 4096;
    let mut encoder = Encoder::new(size, &options).unwrap();
    for _ in 0..MAX_FRAMES {
        encoder.push(&data(4096)).unwrap();
    }
    encoder.push(&Run::Zeros { length: 4096 }).unwrap();
    assert_eq!(encoder.finish(), Err(EncodeError::Frames));
}

#[test]
fn zstd_never_exceeds_the_maximum_compressed_length() {
    for length in (1..300).chain([4095, 65_536, 131_072, 1 << 20, (1 << 20) - 1, 1 << 24]) {
        let bound = zstd_safe::compress_bound(length);
        assert!(bound <= max_compressed_length(length as u32) as usize, "{length}");
    }
    assert_eq!(max_compressed_length(u32::MAX), u32::MAX);
    let image = crate::support::generate::noise(1 << 16, 1);
    let file = create(&image, &Options { piece_size: 1 << 16, level: 19 });
    assert!(file.len() < image.len() + 300);
}
