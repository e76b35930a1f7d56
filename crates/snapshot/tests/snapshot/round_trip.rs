use hedgerow_snapshot::{FrameKind, Options};
use proptest::prelude::*;

use crate::support::{
    generate::{BLOCK, image, options},
    oracle::unzstd,
    snapshot::{create, open, restore, verify},
};

/// A stretch of an image: its kind, offset and length.
type Stretch = (FrameKind, usize, usize);

/// Computes the frames of an image, naively.
fn expected_frames(image: &[u8], piece_size: usize) -> Vec<Stretch> {
    let mut kinds = Vec::new();
    for piece in image.chunks(piece_size) {
        let zeros: Vec<bool> =
            piece.chunks(BLOCK).map(|block| block.iter().all(|byte| *byte == 0)).collect();
        for same in zeros.chunk_by(|one, other| one == other) {
            let is_hole = same[0] && (same.len() >= 16 || same.len() == zeros.len());
            kinds.extend(same.iter().map(|_| is_hole));
        }
    }
    let mut frames: Vec<Stretch> = Vec::new();
    for (index, (&is_hole, block)) in kinds.iter().zip(image.chunks(BLOCK)).enumerate() {
        let kind = if is_hole { FrameKind::Hole } else { FrameKind::Data };
        let at = index * BLOCK;
        match frames.last_mut() {
            Some(last) if last.0 == kind && (is_hole || !at.is_multiple_of(piece_size)) => {
                last.2 += block.len();
            }
            _ => frames.push((kind, at, block.len())),
        }
    }
    frames
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_image_is_restored(image in image(), options in options()) {
        let file = create(&image, &options);
        prop_assert!(restore(&file).unwrap() == *image);
        prop_assert!(verify(&file).unwrap() == *image);
        prop_assert!(unzstd(&file).unwrap() == *image);
    }

    #[test]
    fn images_are_cut_into_frames_as_specified(image in image(), options in options()) {
        let file = create(&image, &options);
        let manifest = open(&file).unwrap();
        prop_assert_eq!(manifest.image_size(), image.len() as u64);
        prop_assert_eq!(manifest.piece_size(), options.piece_size);
        prop_assert_eq!(manifest.file_size(), file.len() as u64);
        let frames: Vec<_> = manifest
            .frames()
            .iter()
            .map(|it| (it.kind, it.image_offset as usize, it.raw_length as usize))
            .collect();
        let expected = expected_frames(&image, options.piece_size as usize);
        let data = expected.iter().filter(|it| it.0 == FrameKind::Data);
        prop_assert_eq!(manifest.data_size(), data.map(|it| it.2 as u64).sum::<u64>());
        prop_assert_eq!(frames, expected);
    }
}

#[test]
fn images_are_restored_for_every_piece_size_and_level() {
    let image = crate::support::generate::text(150_001, 1);
    for exponent in 12..=24 {
        let options = Options { piece_size: 1 << exponent, level: 1 };
        assert!(verify(&create(&image, &options)).unwrap() == image);
    }
    for level in 1..=19 {
        let options = Options { level, piece_size: 1 << 16 };
        assert!(verify(&create(&image, &options)).unwrap() == image);
    }
}
