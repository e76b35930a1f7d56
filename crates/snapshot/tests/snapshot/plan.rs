//! The search for frames, and the ranges to request.

use hedgerow_snapshot::{FrameKind, Manifest, Options, ranges};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::support::{
    forge::Forged,
    generate::{image, noise, options},
    snapshot::{create, open},
};

/// Manifests with frames of any lengths. The content of the frames does not matter.
fn manifest() -> impl Strategy<Value = Manifest> {
    let data = (1..=4_u32, 1..5_000_u32).prop_map(|(blocks, length)| {
        let raw_length = blocks * 4096;
        (FrameKind::Data, raw_length, length.min(raw_length))
    });
    let hole = (1..=200_u32).prop_map(|blocks| {
        // From 4 KiB to 64 MiB, which take up to 2 KiB in the file.
        let raw_length = if blocks > 100 { 1 << 26 } else { blocks * 4096 };
        (FrameKind::Hole, raw_length, 14 + raw_length.div_ceil(1 << 17) * 4)
    });
    let frames = prop_oneof![
        vec(prop_oneof![3 => data.clone(), 1 => hole.clone()], 0..30),
        vec(prop_oneof![1 => data, 4 => hole], 0..150),
    ];
    frames.prop_map(|frames| {
        let mut forged = Forged::new(1 << 14);
        for (kind, raw_length, length) in frames {
            forged.frame(kind, raw_length, &vec![0; length as usize]);
        }
        open(&forged.file()).unwrap()
    })
}

proptest! {
    #[test]
    fn frame_at_returns_the_frame_that_contains_the_offset(
        manifest in manifest(),
        indices in vec(any::<Index>(), 10),
    ) {
        let ends = manifest.frames().iter().flat_map(|frame| {
            let end = frame.image_offset + u64::from(frame.raw_length);
            [frame.image_offset, end - 1, end]
        });
        let size = manifest.image_size();
        let inside = indices.iter().map(|index| index.index(size as usize + 10) as u64);
        for offset in ends.chain(inside).chain([0, size, size + 1, u64::MAX]) {
            let expected = manifest.frames().iter().find(|frame| {
                (frame.image_offset..frame.image_offset + u64::from(frame.raw_length))
                    .contains(&offset)
            });
            prop_assert_eq!(manifest.frame_at(offset), expected);
        }
    }

    #[test]
    fn ranges_cover_the_wanted_frames_once_in_order_and_within_the_part_size(
        manifest in manifest(),
        wanted in vec(any::<bool>(), 150),
        part_size in prop_oneof![Just(0), 1..20_000_u32, Just(1 << 23), Just(u32::MAX)],
    ) {
        let frames = manifest.frames();
        let is_wanted = |index: usize| wanted[index];
        let indices = || (0..frames.len()).filter(|index| is_wanted(*index));
        let ranges: Vec<_> = ranges(indices().map(|index| &frames[index]), part_size).collect();
        let found: Vec<_> = ranges.iter().cloned().flatten().filter(|it| is_wanted(*it)).collect();
        prop_assert_eq!(found, indices().collect::<Vec<_>>());

        let start = |index: usize| frames[index].file_offset;
        let end = |index: usize| start(index) + u64::from(frames[index].compressed_length);
        for range in &ranges {
            let last = range.end - 1;
            prop_assert!(is_wanted(range.start) && is_wanted(last));
            let length = end(last) - start(range.start);
            prop_assert!(length <= part_size.into() || range.len() == 1);
            // Gaps of up to 64 KiB are included, longer ones are not.
            for next in (range.start + 1..range.end).filter(|index| is_wanted(*index)) {
                let before = (range.start..next).rev().find(|index| is_wanted(*index)).unwrap();
                prop_assert!(start(next) - end(before) <= 1 << 16);
            }
        }
        for pair in ranges.windows(2) {
            let (last, next) = (pair[0].end - 1, pair[1].start);
            let together = end(next) - start(pair[0].start);
            prop_assert!(together > part_size.into() || start(next) - end(last) > 1 << 16);
        }
    }

    #[test]
    fn the_ranges_of_a_manifest_are_those_of_its_data(manifest in manifest(), part_size in any::<u32>()) {
        let data = manifest.frames().iter().filter(|frame| frame.kind == FrameKind::Data);
        prop_assert!(manifest.ranges(part_size).eq(ranges(data, part_size)));
    }

    #[test]
    fn the_ranges_of_encoded_files_cover_their_data(image in image(), options in options()) {
        let manifest = open(&create(&image, &options)).unwrap();
        for part_size in [1, 10_000, 1 << 23] {
            let data = manifest.frames().iter().filter(|frame| frame.kind == FrameKind::Data);
            let ranges = manifest.ranges(part_size).flat_map(|range| &manifest.frames()[range]);
            prop_assert!(ranges.filter(|frame| frame.kind == FrameKind::Data).eq(data));
        }
    }
}

#[test]
fn data_without_holes_is_cut_at_the_part_size() {
    let image = noise(40 << 16, 1);
    let manifest = open(&create(&image, &Options { piece_size: 1 << 16, level: 1 })).unwrap();
    let frame = manifest.frames()[0].compressed_length;
    let ranges: Vec<_> = manifest.ranges(8 * frame).collect();
    assert_eq!(ranges, [0..8, 8..16, 16..24, 24..32, 32..40]);
    assert_eq!(manifest.ranges(8 * frame - 1).next(), Some(0..7));
    assert_eq!(manifest.ranges(u32::MAX).collect::<Vec<_>>(), std::slice::from_ref(&(0..40)));
    assert_eq!(manifest.ranges(0).count(), 40);
}

#[test]
fn gaps_of_64_kib_are_included_in_a_range_and_longer_ones_are_not() {
    // 31 of the longest holes, and one for the rest.
    for (last, ranges) in [(400, 1), (401, 2)] {
        let mut forged = Forged::new(4096);
        forged.frame(FrameKind::Data, 4096, b"one");
        for _ in 0..31 {
            forged.frame(FrameKind::Hole, 1 << 26, &[0; 2062]);
        }
        forged.frame(FrameKind::Hole, last << 17, &vec![0; 14 + 4 * last as usize]);
        forged.frame(FrameKind::Data, 4096, b"other");
        let manifest = open(&forged.file()).unwrap();
        let gap = manifest.frames()[33].file_offset - manifest.frames()[1].file_offset;
        assert_eq!(gap, (1 << 16) + u64::from(last - 400) * 4);
        assert_eq!(manifest.ranges(1 << 23).count(), ranges);
    }
}
