//! Small files, damaged at every byte.

use hedgerow_snapshot::{Decoder, Fault, FormatError, FrameKind, Manifest, Options};

use crate::support::{
    generate::{noise, text},
    oracle::seek_table,
    snapshot::{create, decode, open, restore, verify},
};

/// Returns an image of two data frames, a hole, and a data frame.
fn image() -> Vec<u8> {
    let mut image = [text(150, 1).repeat(100), vec![0; 65_536]].concat();
    image.truncate(16 * 4096);
    image[8192..].fill(0);
    image.extend(noise(100, 2));
    image
}

fn file() -> Vec<u8> {
    create(&image(), &Options { piece_size: 1 << 12, ..Options::default() })
}

#[test]
fn the_test_file_has_all_kinds_of_frames() {
    let file = file();
    let manifest = open(&file).unwrap();
    let kinds: Vec<_> = manifest.frames().iter().map(|frame| frame.kind).collect();
    use FrameKind::{Data, Hole};
    assert_eq!(kinds, [Data, Data, Hole, Data]);
    assert!(file.len() < 1000, "{}", file.len());
    assert!(verify(&file).unwrap() == image());
}

#[test]
fn every_truncation_is_refused() {
    let file = file();
    for length in 0..file.len() {
        let short = &file[..length];
        let error = Manifest::parse(short, length as u64).unwrap_err();
        assert!(error.offset <= length as u64, "{error}");
        if let Some(footer) = short.last_chunk() {
            assert_eq!(Manifest::tail_length(footer, length as u64), Err(error));
        }
    }
}

#[test]
fn every_extension_is_refused() {
    let mut file = file();
    for byte in [0, 1, 0xff] {
        file.push(byte);
        assert!(open(&file).is_err());
    }
}

/// Verifies a file, and checks that the offset of an error is within it.
fn verified(file: &[u8]) -> Result<Vec<u8>, FormatError> {
    verify(file).inspect_err(|error| assert!(error.offset <= file.len() as u64, "{error}"))
}

#[test]
fn any_flipped_bit_is_detected_or_in_a_hole_that_is_not_read() {
    let (file, image) = (file(), image());
    let holes: Vec<_> = open(&file)
        .unwrap()
        .frames()
        .iter()
        .filter(|frame| frame.kind == FrameKind::Hole)
        .map(|hole| hole.file_offset..hole.file_offset + u64::from(hole.compressed_length))
        .collect();
    for bit in 0..file.len() * 8 {
        let at = bit / 8;
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (bit % 8);
        // Reading all frames detects every flipped bit.
        verified(&damaged).expect_err("a flipped bit");
        // Restoring does not read holes, and is not affected by damage in them.
        let is_hole = holes.iter().any(|hole| hole.contains(&(at as u64)));
        match restore(&damaged) {
            Ok(restored) => assert!(is_hole && restored == image, "bit {bit}"),
            Err(error) => assert!(!is_hole, "bit {bit}: {error}"),
        }
    }
}

#[test]
fn a_decoder_names_the_damaged_frame_and_decodes_the_next_one() {
    let (file, image) = (file(), image());
    let manifest = open(&file).unwrap();
    let mut decoder = Decoder::new(manifest.piece_size()).unwrap();
    for frame in manifest.frames() {
        for at in 0..u64::from(frame.compressed_length) {
            let mut damaged = file.clone();
            damaged[(frame.file_offset + at) as usize] ^= 0x40;
            let error = decode(&mut decoder, &damaged, frame).unwrap_err();
            let found = (error.field, error.frame, error.offset);
            assert_eq!(found, ("frame", Some(frame.index), frame.file_offset));
            let Fault::Digest { expected, found } = error.fault else { panic!("{error}") };
            assert_eq!(expected, frame.digest);
            assert_ne!(found, expected);
        }
        let start = frame.image_offset as usize;
        let good = decode(&mut decoder, &file, frame).unwrap();
        assert!(good == image[start..][..frame.raw_length as usize]);
    }
}

#[test]
fn zstd_files_that_are_not_snapshots_are_refused() {
    let image = image();
    let mut plain = vec![0; zstd_safe::compress_bound(image.len())];
    let length = zstd_safe::compress(&mut plain[..], &image, 3).unwrap();
    plain.truncate(length);
    let error = open(&plain).unwrap_err();
    assert_eq!(error.field, "magic number of the footer");
    assert_eq!(error.offset, length as u64 - 4);

    // One frame, and the table of the seekable format.
    let mut seekable = plain.clone();
    for number in [0x184D_2A5E, 17, length as u32, image.len() as u32, 1] {
        seekable.extend(number.to_le_bytes());
    }
    seekable.extend([0, 0xb1, 0xea, 0x92, 0x8f]);
    assert_eq!(seek_table(&seekable), [(length, image.len())]);
    let error = open(&seekable).unwrap_err();
    assert_eq!(error.field, "count of the seek table");

    // A snapshot may have four frames, but not these.
    let mut seekable = plain.repeat(4);
    for number in [0x184D_2A5E, 41].into_iter().chain([length as u32, image.len() as u32].repeat(4))
    {
        seekable.extend(number.to_le_bytes());
    }
    seekable.extend([4, 0, 0, 0, 0, 0xb1, 0xea, 0x92, 0x8f]);
    assert_eq!(seek_table(&seekable).len(), 4);
    assert_eq!(open(&seekable).unwrap_err().field, "magic number of the manifest");

    assert_eq!(open(&vec![0; 5000]).unwrap_err().field, "magic number of the footer");
    assert_eq!(open(b"not a snapshot").unwrap_err().field, "file size");
}
