//! The seek table, its footer, and the header. Every disagreement with the manifest is refused.

use hedgerow_snapshot::{Fault, Manifest};

use crate::manifest::{at, forged, refusal};
use crate::support::tail::{HEADER, assert_beginning_is_compared, assert_tail_is_needed, footer};

/// Returns the offset of the seek table of a file.
fn seek_table(file: &[u8]) -> usize {
    file.len() - (8 + 5 * 8 + 9)
}

#[test]
fn every_column_of_the_seek_table_is_compared() {
    let file = forged().file();
    let table = seek_table(&file);
    for row in 0..5_usize {
        let frame = (1..4).contains(&row).then(|| row as u32 - 1);
        for (column, name) in
            [(0, "compressed length in the seek table"), (4, "raw length in the seek table")]
        {
            let at = table + 8 + row * 8 + column;
            let mut changed = file.clone();
            changed[at] ^= 1;
            let number =
                |file: &[u8]| u64::from(u32::from_le_bytes(*file[at..].first_chunk().unwrap()));
            let error = refusal(&changed);
            assert_eq!((error.field, error.frame, error.offset), (name, frame, at as u64));
            let fault = Fault::NotExactly { expected: number(&file), found: number(&changed) };
            assert_eq!(error.fault, fault);
        }
    }
}

#[test]
fn the_skippable_frames_and_the_footer_are_checked() {
    let file = forged().file();
    let (manifest, table) = (at(0) as usize - 8, seek_table(&file));
    let changed = |at: usize| {
        let mut changed = file.clone();
        changed[at] ^= 1;
        changed
    };
    let magic = |expected| Fault::Magic { expected, found: expected ^ 1 };
    let exactly = |expected| Fault::NotExactly { expected, found: expected ^ 1 };
    let cases = [
        (manifest, "magic number of the manifest", magic(0x184D_2A58)),
        (manifest + 4, "length of the manifest", exactly(32 + 3 * 44 + 32)),
        (table, "magic number of the seek table", magic(0x184D_2A5E)),
        (table + 4, "length of the seek table", exactly(5 * 8 + 9)),
        (file.len() - 5, "descriptor of the seek table", exactly(0)),
        (file.len() - 4, "magic number of the footer", magic(0x8F92_EAB1)),
    ];
    for (at, field, fault) in cases {
        let error = refusal(&changed(at));
        assert_eq!((error.field, error.offset, error.fault), (field, at as u64, fault));
    }
    let error = refusal(&changed(table - 1));
    assert_eq!((error.field, error.offset), ("digest of the manifest", table as u64 - 32));
    assert!(matches!(error.fault, Fault::Digest { .. }));
}

#[test]
fn every_field_of_the_header_is_compared() {
    let file = forged().file();
    let manifest = Manifest::parse(&file, file.len() as u64).unwrap();
    let header = *file.first_chunk().unwrap();
    assert_beginning_is_compared(header, &HEADER, |it| manifest.check_header(it));
}

#[test]
fn a_later_version_is_recognized_by_its_header() {
    let mut header = *forged().file().first_chunk().unwrap();
    assert_eq!(Manifest::check_version(&header), Ok(()));
    // The sizes are not checked, and the length may differ in another version.
    header[20..].fill(0xff);
    assert_eq!(Manifest::check_version(&header), Ok(()));
    header[4] = 40;
    header[16] = 3;
    let error = Manifest::check_version(&header).unwrap_err();
    assert_eq!(error.to_string(), "version in the header at byte 16: expected 1 to 2, found 3");
    let zstd = *b"\x28\xb5\x2f\xfd a zstd file, but not a snapshot";
    let error = Manifest::check_version(zstd.first_chunk().unwrap()).unwrap_err();
    assert_eq!((error.field, error.offset), ("magic number of the header", 0));
}

#[test]
fn frame_counts_are_accepted_at_their_limits_and_refused_beyond() {
    let footer = |count| footer(count, *b"\xb1\xea\x92\x8f");
    let max = (1 << 20) + 2;
    for found in [0, 1, max + 1, u32::MAX] {
        let error = Manifest::tail_length(&footer(found), u64::MAX).unwrap_err();
        assert_eq!((error.field, error.offset), ("count of the seek table", u64::MAX - 9));
        let fault = Fault::NotBetween { least: 2, most: max.into(), found: found.into() };
        assert_eq!(error.fault, fault);
    }
    assert_eq!(Manifest::tail_length(&footer(2), 137), Ok(105));
    let tail = 105 + 52 * (1 << 20);
    assert_eq!(Manifest::tail_length(&footer(max), tail + 32), Ok(tail));
    assert_eq!(Manifest::tail_length(&footer(max), u64::MAX), Ok(tail));
    for (count, min) in [(2, 137), (3, 189), (max, tail + 32)] {
        let error = Manifest::tail_length(&footer(count), min - 1).unwrap_err();
        assert_eq!((error.field, error.offset), ("file size", min - 1));
        assert_eq!(error.fault, Fault::TooShort { least: min, found: min - 1 });
    }
    for file_size in 0..137 {
        let error = Manifest::tail_length(&[0xff; 9], file_size).unwrap_err();
        assert_eq!(error.fault, Fault::TooShort { least: 137, found: file_size });
    }
}

#[test]
fn a_tail_may_be_longer_than_needed_but_not_shorter() {
    let file = forged().file();
    let size = file.len() as u64;
    let tail = Manifest::tail_length(file.last_chunk().unwrap(), size).unwrap();
    assert_tail_is_needed(&file, tail, Manifest::parse);
    // A tail longer than the claimed file size is refused.
    assert!(Manifest::parse(&file, 200).is_err());
}
