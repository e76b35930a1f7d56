//! References to base objects.

use hedgerow_snapshot::Fault;

use super::{assert_accepted, assert_refused, between, exactly};

/// References that name no file in the folder of the delta or below it.
const INVALID: [&[u8]; 30] = [
    b"/",
    b"/base.vhs",
    b"//host/base.vhs",
    b".",
    b"..",
    b"../base.vhs",
    b"./base.vhs",
    b"folder/../base.vhs",
    b"folder/./base.vhs",
    b"folder/..",
    b"folder/.",
    b"folder//base.vhs",
    b"folder/",
    b"file:base.vhs",
    b"https://host/base.vhs",
    b"s3://bucket/base.vhs",
    b"data:,",
    b"C:\\base.vhs",
    b"C:base.vhs",
    b"base.vhs:stream",
    b"..\\base.vhs",
    b"folder\\base.vhs",
    b"\0",
    b"base.vhs\0",
    b"base\n.vhs",
    b"base\x7f.vhs",
    // A control character of two bytes.
    b"base\xc2\x85.vhs",
    // Not UTF-8: a lone byte, an overlong slash, a surrogate.
    b"base\xff.vhs",
    b"..\xc0\xaf",
    b"\xed\xa0\x80",
];

const VALID: [&str; 13] = [
    "",
    "a",
    "base.vhs",
    "folder/base.vhs",
    "...",
    "..base.vhs",
    "folder/.hidden/..a",
    "%2e%2e/base.vhs",
    "%00",
    "base.vhs?version=1#2",
    "a b ~",
    " ",
    "日本/базис.vhs",
];

#[test]
fn references_outside_of_the_folder_are_refused() {
    for reference in INVALID {
        for base in 0..2 {
            assert_refused(
                |it| it.objects[base].reference = reference.to_vec(),
                ("reference", None),
                |it| it.reference_at(base),
                Fault::Reference,
            );
        }
    }
}

#[test]
fn references_within_the_folder_are_accepted() {
    let longest = ["a/".repeat(511), "aa".into()].concat();
    assert_eq!(longest.len(), 1024);
    for reference in VALID.into_iter().chain([&longest[..]]) {
        for base in 0..2 {
            let index = assert_accepted(|it| it.objects[base].reference = reference.into());
            assert_eq!(index.objects()[base].reference, reference);
        }
    }
}

#[test]
fn references_that_are_too_long_are_refused() {
    for found in [1025, 4096, u16::MAX] {
        assert_refused(
            |it| it.objects[0].reference = vec![b'a'; found.into()],
            ("length of the reference", None),
            |it| it.object_at(0) + 40,
            between(0, 1024, found.into()),
        );
    }
}

#[test]
fn the_lengths_of_references_must_add_up() {
    assert_refused(
        |it| it.objects[0].reference_length = Some(9),
        ("reference", None),
        |it| it.reference_at(0),
        Fault::TooShort { least: 9, found: 8 },
    );
    assert_refused(
        |it| it.objects[1].reference_length = Some(1),
        ("reference", None),
        |it| it.reference_at(1),
        Fault::TooShort { least: 1, found: 0 },
    );
    assert_refused(
        |it| it.objects[0].reference_length = Some(7),
        ("end of the references", None),
        |it| it.reference_at(1) - 1,
        exactly(0, 1),
    );
    assert_refused(
        |it| it.rest = vec![0; 3],
        ("end of the references", None),
        |it| it.reference_at(1),
        exactly(0, 3),
    );
}

#[test]
fn the_encoder_refuses_the_references_that_readers_refuse() {
    for reference in INVALID.iter().filter_map(|it| str::from_utf8(it).ok()) {
        assert!(super::encoder::finish(&[reference]).is_err(), "{reference:?}");
    }
    for reference in VALID {
        assert!(super::encoder::finish(&[reference]).is_ok(), "{reference:?}");
    }
    assert!(super::encoder::finish(&[&"a".repeat(1024)]).is_ok());
    for references in [&[][..], &["a", "b"], &[&"a".repeat(1025)]] {
        assert!(super::encoder::finish(references).is_err(), "{references:?}");
    }
}
