//! Images at the limits: empty, all zeros, huge, incompressible.

use hedgerow_snapshot::{
    Encoder, FrameKind, MAX_HOLE_LENGTH, Manifest, Options, PieceEncoder, Run,
};
use proptest::{collection::vec, prelude::*};

use crate::support::{
    forge,
    generate::{BLOCK, noise, text},
    oracle::unzstd,
    snapshot::{Encoded, assemble, create, encode, open, restore, verify},
};

/// Returns runs of zeros of these lengths.
fn zeros(lengths: impl IntoIterator<Item = u64>) -> impl Iterator<Item = Encoded> {
    lengths.into_iter().map(|length| (Run::Zeros { length }, Vec::new()))
}

#[test]
fn an_empty_image_is_a_header_and_a_tail() {
    let file = create(&[], &Options::default());
    assert_eq!(
        file.len() as u64,
        32 + Manifest::tail_length(file.last_chunk().unwrap(), 137).unwrap()
    );
    let manifest = open(&file).unwrap();
    assert_eq!((manifest.image_size(), manifest.frames()), (0, &[][..]));
    assert_eq!(manifest.frame_at(0), None);
    assert_eq!(manifest.ranges(1 << 23).count(), 0);
    assert!(unzstd(&file).unwrap().is_empty());
    // An empty piece has no runs.
    assert_eq!(PieceEncoder::new(&Options::default()).unwrap().encode(&[]).unwrap().count(), 0);
}

#[test]
fn images_of_any_length_are_restored() {
    for length in [1, 2, 4095, 4096, 4097, 65_535, 65_536, (1 << 20) - 1, 1 << 20, (1 << 20) + 1] {
        for image in [vec![0; length], vec![1; length], noise(length, 1), text(length, 2)] {
            let file = create(&image, &Options::default());
            assert!(verify(&file).unwrap() == image);
            assert!(restore(&file).unwrap() == image);
            assert!(unzstd(&file).unwrap() == image);
        }
    }
}

#[test]
fn an_image_of_zeros_is_one_hole() {
    for length in [1, 4096, 5 << 20, (5 << 20) + 1] {
        let manifest = open(&create(&vec![0; length], &Options::default())).unwrap();
        let [hole] = manifest.frames() else { panic!("{length}: {:?}", manifest.frames()) };
        assert_eq!((hole.kind, hole.raw_length as usize), (FrameKind::Hole, length));
        assert_eq!(manifest.data_size(), 0);
        assert_eq!(manifest.ranges(1 << 23).count(), 0);
    }
}

#[test]
fn an_image_without_zeros_has_one_frame_per_piece() {
    let manifest = open(&create(&noise(5 << 20, 1), &Options::default())).unwrap();
    assert!(manifest.frames().iter().all(|frame| frame.raw_length == 1 << 20));
    assert_eq!(manifest.frames().len(), 5);
}

#[test]
fn random_data_grows_by_at_most_a_thousandth() {
    for length in [1 << 20, 3 << 20, (1 << 20) + 123_456] {
        for level in [1, 3, 9] {
            let file = create(&noise(length, 7), &Options { level, ..Options::default() });
            assert!(file.len() * 1000 <= length * 1001, "{length} bytes became {}", file.len());
        }
    }
}

#[test]
fn a_piece_with_the_maximum_number_of_frames_is_encoded() {
    // Incompressible blocks with the shortest holes between them.
    let options = Options { piece_size: 1 << 24, ..Options::default() };
    let mut image = noise(1 << 24, 1);
    for hole in image.chunks_mut(17 * BLOCK) {
        let length = hole.len() - BLOCK.min(hole.len());
        hole[..length].fill(0);
    }
    let file = create(&image, &options);
    assert_eq!(open(&file).unwrap().frames().len(), 2 * 240);
    assert!(restore(&file).unwrap() == image);
}

#[test]
fn images_with_thousands_of_tiny_extents_are_restored() {
    // A block of data after every 16 blocks of zeros, and after every 15, which are not a hole.
    for (period, frames) in [(17, 4000), (16, 16)] {
        let mut image = vec![0; 2000 * period * BLOCK];
        for block in image.chunks_mut(BLOCK).step_by(period) {
            block.fill(b'x');
        }
        let file = create(&image, &Options { piece_size: 1 << 24, ..Options::default() });
        let manifest = open(&file).unwrap();
        assert!(manifest.frames().len().abs_diff(frames) < 20, "{}", manifest.frames().len());
        assert!(restore(&file).unwrap() == image);
        assert!(unzstd(&file).unwrap() == image);
    }
}

#[test]
fn a_sparse_image_of_64_gib_gives_a_small_file() {
    let options = Options::default();
    let mut pieces = PieceEncoder::new(&options).unwrap();
    let piece = text(1 << 20, 1);
    let gap = (9 << 30) - (1 << 20);
    let mut runs = Vec::new();
    for _ in 0..7 {
        runs.extend(encode(&mut pieces, &piece));
        runs.extend(zeros([gap]));
    }
    runs.extend(zeros([1 << 30]));
    let file = assemble(64 << 30, &options, runs).unwrap();
    assert!(file.len() < 5 << 20, "{}", file.len());

    let manifest = open(&file).unwrap();
    assert_eq!(manifest.image_size(), 64 << 30);
    assert_eq!(manifest.data_size(), 7 << 20);
    // 9 GiB less one MiB is 143 whole holes and a shorter one; 1 GiB more is 16 more.
    assert_eq!(manifest.frames().len(), 7 + 7 * 144 + 16);
    for number in 0..7 {
        let frame = manifest.frame_at(number * (9 << 30)).unwrap();
        assert_eq!((frame.kind, frame.image_offset), (FrameKind::Data, number * (9 << 30)));
        let hole = manifest.frame_at(number * (9 << 30) + (1 << 20)).unwrap();
        assert_eq!((hole.kind, hole.raw_length), (FrameKind::Hole, MAX_HOLE_LENGTH));
    }
    assert_eq!(manifest.frame_at(64 << 30), None);
}

#[test]
fn holes_are_cut_at_64_mib_from_their_start() {
    let max = u64::from(MAX_HOLE_LENGTH);
    let cases = [
        (max - 4096, vec![max - 4096]),
        (max, vec![max]),
        (max + 1, vec![max, 1]),
        (2 * max + 4096, vec![max, max, 4096]),
    ];
    for (length, expected) in cases {
        let file = assemble(length, &Options::default(), zeros([length])).unwrap();
        let manifest = open(&file).unwrap();
        let lengths = manifest.frames().iter().map(|frame| u64::from(frame.raw_length));
        assert_eq!(lengths.collect::<Vec<_>>(), expected);
        assert!(manifest.frames().iter().all(|frame| frame.kind == FrameKind::Hole));
    }
    // The longest hole frame has the specified bytes, and zstd decodes it.
    let file = assemble(max, &Options::default(), zeros([max])).unwrap();
    assert_eq!(file[32..][..2062], forge::hole(MAX_HOLE_LENGTH));
    assert!(unzstd(&file).unwrap() == vec![0; max as usize]);
}

#[test]
fn holes_of_every_length_have_the_specified_bytes() {
    let edges = [1, 4095, 4096, 131_071, 131_072, 131_073, 1 << 20, (1 << 20) + 1, (3 << 20) - 1];
    let lengths = edges.into_iter().chain((1..40).map(|number| number * 123_457));
    for length in lengths {
        let file = assemble(length, &Options::default(), zeros([length])).unwrap();
        let frame = forge::hole(length as u32);
        assert_eq!(file[32..][..frame.len()], frame, "{length}");
        assert!(unzstd(&frame).unwrap() == vec![0; length as usize]);
    }
}

proptest! {
    #[test]
    fn zeros_pushed_at_once_or_in_parts_give_the_same_file(
        lengths in vec(prop_oneof![1..40_u64, 1..20_000_u64], 1..8),
        data_after in any::<bool>(),
    ) {
        let options = Options { piece_size: 4096, ..Options::default() };
        let data = data_after.then(|| {
            encode(&mut PieceEncoder::new(&options).unwrap(), &text(4096, 3))
        });
        let data = data.into_iter().flatten();
        let total = lengths.iter().sum::<u64>() * 4096;
        let size = total + if data_after { 4096 } else { 0 };
        let at_once = assemble(size, &options, zeros([total]).chain(data.clone())).unwrap();
        let in_parts = zeros(lengths.into_iter().map(|blocks| blocks * 4096));
        prop_assert!(at_once == assemble(size, &options, in_parts.chain(data)).unwrap());
    }
}

#[test]
fn adjacent_holes_of_several_pieces_become_one() {
    // Zeros from inside the first piece into the third.
    let mut image = text(3 << 20, 5);
    image[(1 << 20) - (64 << 10)..(2 << 20) + (64 << 10)].fill(0);
    let manifest = open(&create(&image, &Options::default())).unwrap();
    let holes = manifest.frames().iter().filter(|frame| frame.kind == FrameKind::Hole);
    let holes: Vec<_> = holes.map(|frame| (frame.image_offset, frame.raw_length)).collect();
    assert_eq!(holes, [((1 << 20) - (64 << 10), (1 << 20) + (128 << 10))]);
}

#[test]
fn an_encoder_returns_hole_frames_as_soon_as_they_are_complete() {
    let mut encoder = Encoder::new(1 << 30, &Options::default()).unwrap();
    assert_eq!(encoder.header().len(), Manifest::HEADER_LENGTH);
    assert!(encoder.push(&Run::Zeros { length: (64 << 20) - 4096 }).unwrap().is_empty());
    assert_eq!(encoder.push(&Run::Zeros { length: 4096 }).unwrap().len(), 2062);
    assert_eq!(encoder.push(&Run::Zeros { length: 128 << 20 }).unwrap().len(), 2 * 2062);
}
