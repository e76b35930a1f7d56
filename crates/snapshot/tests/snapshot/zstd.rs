//! Compatibility with zstd and its seekable format.

use hedgerow_snapshot::Options;
use proptest::prelude::*;

use crate::support::{
    generate::{image, noise, options, text},
    oracle::{seek_table, unzstd, zstd_frames},
    snapshot::create,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_seek_table_has_every_frame(image in image(), options in options()) {
        let file = create(&image, &options);
        let frames = zstd_frames(&file);
        let lengths: Vec<_> = frames
            .iter()
            .map(|frame| {
                let raw = zstd_safe::get_frame_content_size(frame).unwrap().unwrap();
                (frame.len(), raw as usize)
            })
            .collect();
        let (table, before) = lengths.split_last().unwrap();
        prop_assert_eq!(seek_table(&file), before);
        prop_assert_eq!(table.0, before.len() * 8 + 17);
        prop_assert_eq!(before.iter().map(|it| it.1).sum::<usize>(), image.len());
    }

    #[test]
    fn a_reader_of_the_seekable_format_reads_any_byte(
        image in image(),
        options in options(),
        offset: prop::sample::Index,
    ) {
        prop_assume!(!image.is_empty());
        let file = create(&image, &options);
        let offset = offset.index(image.len());
        let (mut at, mut start) = (0, 0);
        for (compressed, raw) in seek_table(&file) {
            if offset < start + raw {
                let out = unzstd(&file[at..at + compressed]).unwrap();
                prop_assert_eq!(out[offset - start], image[offset]);
                return Ok(());
            }
            at += compressed;
            start += raw;
        }
        prop_assert!(false, "no frame has byte {}", offset);
    }
}

#[test]
fn data_frames_have_a_content_size_and_a_checksum_and_no_dictionary() {
    let mut image = text(3 << 20, 1);
    image[1 << 20..2 << 20].fill(0);
    image.extend(noise(70_000, 1));
    for frame in zstd_frames(&create(&image, &Options::default())) {
        let magic = u32::from_le_bytes(*frame.first_chunk().unwrap());
        if magic != 0xFD2F_B528 {
            assert_eq!(magic & 0xFFFF_FFF0, 0x184D_2A50);
            continue;
        }
        let descriptor = frame[4];
        assert_eq!(descriptor & 0b0000_0111, 0b100, "a checksum, no dictionary");
        assert_ne!(descriptor & 0b1110_0000, 0, "a content size");
    }
}

#[test]
fn zstd_detects_damaged_data() {
    let mut image = text(20_000, 1);
    image.resize(20_480 + 65_536, 0);
    image.extend(b"the end");
    let file = create(&image, &Options::default());
    assert!(unzstd(&file).unwrap() == image);
    let mut refused = 0;
    for at in 0..file.len() {
        for mask in [1, 0x10, 0xff] {
            let mut damaged = file.clone();
            damaged[at] ^= mask;
            match unzstd(&damaged) {
                // Damage in skippable frames and in window sizes has no effect.
                Ok(found) => assert!(found == image, "byte {at}"),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > file.len());
}
