//! Checks of the two ends of a file, which snapshots and deltas share.

use core::fmt::Debug;

use hedgerow_snapshot::{Fault, FormatError};

/// Length of the footer of both kinds, in bytes.
const FOOTER_LENGTH: usize = 9;

/// The fields of the header: offset, length and name.
pub const HEADER: [(usize, usize, &str); 7] = [
    (0, 4, "magic number of the header"),
    (4, 4, "length of the header"),
    (8, 8, "magic number of the header's content"),
    (16, 2, "version in the header"),
    (18, 2, "reserved bytes of the header"),
    (20, 4, "piece size in the header"),
    (24, 8, "image size in the header"),
];

/// Returns a footer: a number, a reserved byte of 0, and a magic number.
pub fn footer(number: u32, magic: [u8; 4]) -> [u8; FOOTER_LENGTH] {
    let mut footer = [0; FOOTER_LENGTH];
    footer[..4].copy_from_slice(&number.to_le_bytes());
    footer[5..].copy_from_slice(&magic);
    footer
}

/// Asserts that a change to any byte of the beginning of a file is refused with the field and its offset.
#[track_caller]
pub fn assert_beginning_is_compared<const N: usize>(
    beginning: [u8; N],
    fields: &[(usize, usize, &str)],
    check: impl Fn(&[u8; N]) -> Result<(), FormatError>,
) {
    assert_eq!(fields.iter().map(|field| field.1).sum::<usize>(), N);
    assert_eq!(check(&beginning), Ok(()));
    for (start, length, field) in fields {
        for at in *start..start + length {
            let mut changed = beginning;
            changed[at] ^= 0x81;
            let error = check(&changed).unwrap_err();
            assert_eq!((error.field, error.offset), (*field, *start as u64));
        }
    }
}

/// Asserts that a file is parsed from its tail, also with bytes before it, and not from fewer bytes.
#[track_caller]
pub fn assert_tail_is_needed<T: Debug + PartialEq>(
    file: &[u8],
    tail: u64,
    parse: impl Fn(&[u8], u64) -> Result<T, FormatError>,
) {
    let size = file.len() as u64;
    let expected = parse(file, size).unwrap();
    let start = (size - tail) as usize;
    for start in 0..=start {
        assert_eq!(parse(&file[start..], size).as_ref(), Ok(&expected));
    }
    for start in start + 1..=file.len() {
        let error = parse(&file[start..], size).unwrap_err();
        let found = size - start as u64;
        let least = if found < FOOTER_LENGTH as u64 { FOOTER_LENGTH as u64 } else { tail };
        assert_eq!((error.field, error.offset), ("tail", start as u64));
        assert_eq!(error.fault, Fault::TooShort { least, found });
    }
}
