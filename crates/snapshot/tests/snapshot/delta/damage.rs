//! A small delta, damaged at every byte.

use std::slice::from_ref;

use hedgerow_snapshot::{FormatError, Index, Options};

use crate::support::{
    delta::{Delta, Files, open_index, restore_from},
    generate::{noise, text},
    snapshot::create,
};

struct Example {
    files: Files,
    file: Vec<u8>,
    image: Vec<u8>,
}

/// Returns a delta with changes of every kind.
fn example() -> Example {
    let options = Options { piece_size: 1 << 14, ..Options::default() };
    let base_image = [text(150, 1).repeat(300), noise(100, 2)].concat();
    let base_file = create(&base_image, &options);
    let base = open_index(&base_file).unwrap();
    let mut image = base_image.clone();
    image[4096..8192].copy_from_slice(&text(4096, 3));
    image[20_480..28_672].fill(0);
    image.extend(text(5000, 4));
    let files = Files::from([(base.identity(), base_file)]);
    let delta = Delta {
        image: &image,
        base_image: Some(&base_image),
        base,
        changed: from_ref(&(0..usize::MAX >> 12)),
        references: &["base.vhs"],
    };
    let file = delta.create(&options).unwrap();
    Example { files, file, image }
}

#[test]
fn the_test_file_has_all_kinds_of_mappings() {
    let Example { files, file, image } = example();
    let index = open_index(&file).unwrap();
    assert!(index.mappings().iter().any(|mapping| mapping.data.is_none()));
    for object in 0..2 {
        assert!(index.frames().iter().any(|frame| frame.object == object));
    }
    assert!(file.len() < 4000, "{}", file.len());
    assert!(restore_from(&files, &file).unwrap() == image);
}

#[test]
fn every_truncation_is_refused() {
    let file = example().file;
    for length in 0..file.len() {
        let short = &file[..length];
        let error = Index::parse(short, length as u64).unwrap_err();
        assert!(error.offset <= length as u64, "{error}");
        if let Some(footer) = short.last_chunk() {
            assert_eq!(Index::tail_length(footer, length as u64), Err(error));
        }
    }
}

#[test]
fn every_extension_is_refused() {
    let mut file = example().file;
    for byte in [0, 1, 0xff] {
        file.push(byte);
        assert!(open_index(&file).is_err());
    }
    for at in [0, 32, 40, 200] {
        let mut file = example().file;
        file.insert(at, 0);
        assert!(restore_from(&example().files, &file).is_err());
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let Example { files, file, .. } = example();
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error: FormatError = restore_from(&files, &damaged).expect_err("a flipped bit");
        assert!(error.offset <= file.len() as u64, "{error}");
    }
}

#[test]
fn every_flipped_bit_of_a_used_frame_of_the_base_is_detected() {
    let Example { files, file, image } = example();
    let index = open_index(&file).unwrap();
    let identity = index.objects()[0].identity;
    let used: Vec<_> = index.frames().iter().filter(|frame| frame.object == 1).collect();
    for bit in 0..files[&identity].len() * 8 {
        let mut damaged = files.clone();
        damaged.get_mut(&identity).unwrap()[bit / 8] ^= 1 << (bit % 8);
        let is_used = used.iter().any(|frame| {
            let start = frame.file_offset as usize;
            (start..start + frame.compressed_length as usize).contains(&(bit / 8))
        });
        match restore_from(&damaged, &file) {
            Ok(restored) => assert!(!is_used && restored == image),
            Err(error) => assert!(is_used && error.field == "frame", "{error}"),
        }
    }
}
