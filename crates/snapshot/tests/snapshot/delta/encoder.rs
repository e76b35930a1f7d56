//! The limits of the encoders of deltas, tested on both sides.

use hedgerow_snapshot::{
    DeltaEncoder, DeltaPieceEncoder, DeltaRun, Digest, EncodeError, FrameBlocks, Index, MAX_FRAMES,
    MAX_IMAGE_SIZE, MAX_MAPPINGS, Mapping, Options, Run, max_compressed_length,
};

use crate::support::{
    delta::open_index,
    forge_delta::ForgedDelta,
    generate::{noise, text},
    snapshot::create,
};

const OPTIONS: Options = Options { level: 1, piece_size: 1 << 14 };

fn base_of(image: &[u8]) -> Index {
    open_index(&create(image, &OPTIONS)).unwrap()
}

/// Returns a frame of one byte.
fn frame(raw_length: u32) -> Run {
    Run::Data { raw_length, compressed_length: 1, digest: Digest::of(b"") }
}

const fn data(blocks: u32, frame: u32, block: u32) -> DeltaRun {
    DeltaRun::Data { blocks, frame, block }
}

const fn zeros(blocks: u32) -> DeltaRun {
    DeltaRun::Zeros { blocks }
}

const fn unchanged(blocks: u32) -> DeltaRun {
    DeltaRun::Unchanged { blocks }
}

/// Finishes a delta without changes.
pub fn finish(references: &[&str]) -> Result<Vec<u8>, EncodeError> {
    let encoder = DeltaEncoder::new(8192, &OPTIONS, base_of(&text(8192, 1))).unwrap();
    encoder.finish(references)
}

/// Returns the error of pushing a piece at `block` of an image of ten blocks and 100 bytes, after one that
/// ends at block 2.
fn refusal(block: u64, frames: &[Run], runs: &[DeltaRun]) -> EncodeError {
    let image_size = 10 * 4096 + 100;
    let new = || {
        let mut encoder = DeltaEncoder::new(image_size, &OPTIONS, base_of(&[])).unwrap();
        encoder.push(0, &[frame(8192)], &[data(2, 0, 0)]).unwrap();
        encoder
    };
    let mut encoder = new();
    let error = encoder.push(block, frames, runs).unwrap_err();
    // Every later call returns the same error.
    assert_eq!(encoder.push(10, &[], &[]), Err(error));
    assert_eq!(encoder.finish(&[""]), Err(error));
    error
}

fn run(block: u64, blocks: u64) -> EncodeError {
    let image_offset = block.saturating_mul(4096);
    let most = (10 * 4096 + 100_u64).saturating_sub(image_offset);
    EncodeError::Run { image_offset, most, found: blocks * 4096 }
}

#[test]
fn options_and_sizes_beyond_their_limits_are_refused() {
    let base = || base_of(&text(100, 1));
    let new = |size, options| DeltaEncoder::new(size, &options, base()).err();
    assert_eq!(new(MAX_IMAGE_SIZE, OPTIONS), None);
    let found = MAX_IMAGE_SIZE + 1;
    assert_eq!(new(found, OPTIONS), Some(EncodeError::ImageSize { found }));
    let level = Options { level: 20, ..OPTIONS };
    assert_eq!(new(0, level), Some(EncodeError::Level { found: 20 }));
    assert_eq!(DeltaPieceEncoder::new(&level).err(), Some(EncodeError::Level { found: 20 }));
    let error = new(0, Options { piece_size: 1 << 15, ..OPTIONS }).unwrap();
    assert_eq!(error, EncodeError::BasePieceSize { expected: 1 << 14, found: 1 << 15 });
    assert_eq!(error.to_string(), "piece size: expected 16384, as in the base, found 32768");
}

#[test]
fn pieces_longer_than_the_piece_size_are_refused() {
    let mut pieces = DeltaPieceEncoder::new(&OPTIONS).unwrap();
    let error = pieces.encode(&[1; (1 << 14) + 1], None, &[]).err();
    assert_eq!(error, Some(EncodeError::Piece { most: 1 << 14, found: (1 << 14) + 1 }));
    assert_eq!(pieces.encode(&[1; 1 << 14], None, &[]).unwrap().runs, [unchanged(4)]);
}

#[test]
fn runs_that_do_not_fit_are_refused() {
    // Empty; before the last piece; beyond the end; without their frame.
    for empty in [zeros(0), unchanged(0), data(0, 0, 0)] {
        assert_eq!(refusal(2, &[frame(4096)], &[empty]), run(2, 0));
    }
    assert_eq!(refusal(1, &[], &[zeros(1)]), run(1, 0));
    assert_eq!(refusal(11, &[], &[zeros(1)]), run(11, 1));
    assert_eq!(refusal(10, &[], &[zeros(2)]), run(10, 2));
    assert_eq!(refusal(4, &[], &[zeros(5), unchanged(3)]), run(9, 3));
    assert_eq!(refusal(u64::MAX, &[], &[unchanged(1)]), run(u64::MAX, 1));
    assert_eq!(refusal(2, &[], &[unchanged(u32::MAX)]), run(2, u32::MAX.into()));
    for frame in [0, 1, u32::MAX] {
        assert_eq!(refusal(2, &[], &[data(1, frame, 0)]), run(2, 1));
    }
    assert_eq!(refusal(2, &[frame(4096)], &[data(1, 0, 0), data(1, 1, 0)]), run(3, 1));
    let text = refusal(2, &[], &[zeros(0)]).to_string();
    let expected =
        "run at byte 8192 of the image: expected 1 to 32868 bytes, in blocks of 4096, found 0";
    assert_eq!(text, expected);
}

#[test]
fn runs_beyond_their_frame_are_refused() {
    let two = [frame(8192)];
    assert_eq!(refusal(2, &two, &[data(3, 0, 0)]), run(2, 3));
    assert_eq!(refusal(2, &two, &[data(2, 0, 1)]), run(2, 2));
    assert_eq!(refusal(2, &two, &[data(1, 0, 2)]), run(2, 1));
    assert_eq!(refusal(2, &two, &[data(1, 0, u32::MAX)]), run(2, 1));
    // Blocks that are used twice, or out of order.
    assert_eq!(refusal(2, &two, &[data(1, 0, 0), zeros(1), data(1, 0, 0)]), run(4, 1));
    assert_eq!(refusal(2, &two, &[data(1, 0, 1), zeros(1), data(1, 0, 0)]), run(4, 1));
    // The incomplete block of a frame, where the image continues; a frame of 99 bytes at the end.
    assert_eq!(refusal(2, &[frame(8191)], &[data(2, 0, 0)]), run(2, 2));
    assert_eq!(refusal(10, &[frame(99)], &[data(1, 0, 0)]), run(10, 1));
}

#[test]
fn frames_that_readers_would_refuse_are_refused() {
    let hole = Run::Zeros { length: 4096 };
    assert_eq!(refusal(2, &[hole], &[]), run(2, 0));
    // A frame that no run uses.
    assert_eq!(refusal(2, &[frame(4096)], &[unchanged(1)]), run(2, 0));
    assert_eq!(refusal(2, &[frame(4096), frame(4096)], &[data(1, 1, 0)]), run(2, 0));
    for raw_length in [0, (1 << 14) + 1] {
        let (most, found) = (1 << 14, raw_length.into());
        let error = EncodeError::Run { image_offset: 8192, most, found };
        assert_eq!(refusal(2, &[frame(raw_length)], &[data(1, 0, 0)]), error);
    }
    let most = max_compressed_length(4096);
    for found in [0, most + 1, u32::MAX] {
        let frame =
            Run::Data { raw_length: 4096, compressed_length: found, digest: Digest::of(b"") };
        let error = EncodeError::Frame { image_offset: 8192, most, found };
        assert_eq!(refusal(2, &[frame], &[data(1, 0, 0)]), error);
    }
}

#[test]
fn the_incomplete_last_block_of_the_base_must_be_pushed_if_the_image_grew() {
    let base = text(5000, 1);
    for (size, is_needed) in [(4096, false), (5000, false), (5001, true), (50_000, true)] {
        let new = || DeltaEncoder::new(size, &OPTIONS, base_of(&base)).unwrap();
        let error = EncodeError::Length { expected: size, found: 5000 };
        let expected = if is_needed { Err(error) } else { Ok(()) };
        assert_eq!(new().finish(&["a"]).map(drop), expected);
        if size <= 4096 {
            continue;
        }
        let mut encoder = new();
        encoder.push(1, &[], &[unchanged(1)]).unwrap();
        assert_eq!(encoder.finish(&["a"]).map(drop), expected);
        let mut encoder = new();
        encoder.push(1, &[], &[zeros(1)]).unwrap();
        assert_eq!(encoder.finish(&["a"]).map(drop), Ok(()));
    }
    // A later change does not replace it.
    let mut encoder = DeltaEncoder::new(50_000, &OPTIONS, base_of(&base)).unwrap();
    encoder.push(8, &[], &[zeros(1)]).unwrap();
    let error = EncodeError::Length { expected: 50_000, found: 5000 };
    assert_eq!(encoder.finish(&["a"]), Err(error));
}

#[test]
fn a_delta_without_changes_has_the_mappings_of_its_base() {
    let mut image = text(100_000, 1);
    image[20_000..90_000].fill(0);
    let base = base_of(&image);
    let encoder = DeltaEncoder::new(100_000, &OPTIONS, base.clone()).unwrap();
    let file = [encoder.header(), encoder.finish(&["base.vhs"]).unwrap()].concat();
    let delta = open_index(&file).unwrap();
    assert_eq!(delta.mappings(), base.mappings());
    assert_eq!((delta.frames().len(), delta.data_size()), (base.frames().len(), base.data_size()));
    assert!(delta.frames().iter().all(|frame| frame.object == 1));
    assert_eq!((delta.depth(), delta.level()), (1, Some(1)));
    assert_eq!(
        (delta.objects()[0].identity, delta.objects()[0].size),
        (base.identity(), base.file_size())
    );
}

#[test]
fn objects_and_frames_that_nothing_uses_are_dropped() {
    let mut encoder = DeltaEncoder::new(4 << 14, &OPTIONS, base_of(&noise(4 << 14, 1))).unwrap();
    encoder.push(4, &[frame(1 << 14)], &[data(4, 0, 0)]).unwrap();
    let file = [&encoder.header()[..], &[0], &encoder.finish(&["0.vhs"]).unwrap()].concat();
    let first = open_index(&file).unwrap();
    assert_eq!((first.objects().len(), first.frames().len()), (1, 4));

    // Zeros in place of all data of the first delta: only the snapshot is left.
    let mut encoder = DeltaEncoder::new(4 << 14, &OPTIONS, first.clone()).unwrap();
    encoder.push(4, &[], &[zeros(4)]).unwrap();
    let file = [encoder.header(), encoder.finish(&["1.vhs", "0.vhs"]).unwrap()].concat();
    let second = open_index(&file).unwrap();
    let references: Vec<_> = second.objects().iter().map(|base| &base.reference[..]).collect();
    assert_eq!((references, second.frames().len()), (vec!["0.vhs"], 3));
    assert_eq!(second.depth(), 2);

    // And in place of all data: nothing is left.
    let mut encoder = DeltaEncoder::new(4 << 14, &OPTIONS, second).unwrap();
    encoder.push(0, &[], &[zeros(16)]).unwrap();
    let file = [encoder.header(), encoder.finish(&["", "0.vhs"]).unwrap()].concat();
    let third = open_index(&file).unwrap();
    assert_eq!((third.objects().len(), third.frames().len(), third.depth()), (0, 0, 3));
    assert_eq!(third.mappings(), [Mapping { blocks: 16, data: None }]);
}

#[test]
fn nine_base_objects_are_refused() {
    let mut forged = ForgedDelta::new(1 << 14);
    for number in 1..=8 {
        forged.base(200, "").frame(number, 32, 1, 4096).mapping(1, u32::from(number) - 1, 0);
    }
    let references = ["a"; 9];
    let finish = |forged: &ForgedDelta, runs: &[DeltaRun]| {
        let base = open_index(&forged.file()).unwrap();
        let mut encoder = DeltaEncoder::new(base.image_size(), &OPTIONS, base).unwrap();
        encoder.push(0, &[], runs).unwrap();
        encoder.finish(&references)
    };
    // The base holds no data itself.
    assert!(finish(&forged, &[]).is_ok());
    let mut with_data = ForgedDelta { frames: Vec::new(), ..forged.clone() };
    with_data.own(&text(4096, 1));
    with_data.frames.extend(forged.frames);
    with_data.mappings.iter_mut().for_each(|mapping| mapping.frame += 1);
    with_data.mapping(1, 0, 0);
    let error = finish(&with_data, &[]).unwrap_err();
    assert_eq!(error, EncodeError::BaseObjects { found: 9 });
    assert_eq!(error.to_string(), "expected at most 8 base objects, found 9");
    assert!(finish(&with_data, &[zeros(1)]).is_ok());
}

#[test]
fn a_delta_has_at_most_the_maximum_number_of_frames_and_mappings() {
    let image_size = (u64::from(MAX_MAPPINGS) + 2) * 4096;
    let new = || DeltaEncoder::new(image_size, &OPTIONS, base_of(&[])).unwrap();
    let mut encoder = new();
    for block in 0..MAX_FRAMES {
        encoder.push(block.into(), &[frame(4096)], &[data(1, 0, 0)]).unwrap();
    }
    let next = u64::from(MAX_FRAMES);
    let error = encoder.push(next, &[frame(4096)], &[data(1, 0, 0)]).unwrap_err();
    assert_eq!(error, EncodeError::Frames);

    // Blocks of few frames, in alternation with holes.
    let fill = |mappings: u32| {
        let mut encoder = new();
        let pieces = mappings / 8;
        for piece in 0..pieces {
            let runs = (0..8).map(|at| if at % 2 == 0 { data(1, 0, at / 2) } else { zeros(1) });
            let runs: Vec<_> = runs.collect();
            encoder.push(u64::from(piece) * 8, &[frame(1 << 14)], &runs).unwrap();
        }
        (encoder, u64::from(pieces) * 8)
    };
    let (mut encoder, end) = fill(MAX_MAPPINGS - 8);
    encoder.push(end, &[frame(8192)], &[data(1, 0, 0), zeros(1), data(1, 0, 1)]).unwrap();
    let frames = u64::from(MAX_MAPPINGS / 8);
    let tail = encoder.finish(&[""]).unwrap();
    let size = 40 + frames + tail.len() as u64;
    let index = Index::parse(&tail, size).unwrap();
    // The rest of the image is a hole.
    assert_eq!(index.mappings().len(), MAX_MAPPINGS as usize - 4);
    let last = index.mappings()[MAX_MAPPINGS as usize - 6];
    assert_eq!(last.data, Some(FrameBlocks { frame: frames as u32 - 1, block: 1 }));

    let (mut encoder, end) = fill(MAX_MAPPINGS);
    let error = encoder.push(end, &[], &[zeros(1)]).unwrap_err();
    assert_eq!(error, EncodeError::Mappings);
    let text = "expected at most 4194304 mappings, found more; create a full snapshot";
    assert_eq!(error.to_string(), text);
    // The hole at the end, which continues the last run, extends its mapping: the maximum is reached.
    let (encoder, _) = fill(MAX_MAPPINGS);
    assert!(encoder.finish(&[""]).is_ok());
    // After data, that hole is one mapping more.
    let (mut encoder, end) = fill(MAX_MAPPINGS - 8);
    let mut runs: Vec<_> = [0, 1, 2].iter().flat_map(|at| [data(1, 0, *at), zeros(1)]).collect();
    runs.extend([data(1, 0, 3), data(1, 1, 0)]);
    encoder.push(end, &[frame(1 << 14), frame(4096)], &runs).unwrap();
    assert_eq!(encoder.finish(&[""]), Err(EncodeError::Mappings));
}

#[test]
fn changes_may_overlap_and_have_any_order() {
    let base = text(1 << 14, 1);
    let mut piece = base.clone();
    // The piece has in block 1 what the base has in block 3.
    piece.copy_within(3 * 4096.., 4096);
    let mut pieces = DeltaPieceEncoder::new(&OPTIONS).unwrap();
    for changed in [
        &[0..4, 0..4][..],
        &[1..2, 4..4],
        &[2..3, 0..1, 1..2],
        &[0..3, 1..4],
        &[4..4, 1..u32::MAX],
        &[1..2, 1..2],
    ] {
        let delta = pieces.encode(&piece, Some(&base), changed).unwrap();
        assert_eq!(delta.runs, [unchanged(1), data(1, 0, 0), unchanged(2)], "{changed:?}");
    }
}
