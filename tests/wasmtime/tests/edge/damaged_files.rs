//! Damaged files. Both sides refuse them with the same error, or accept the same filter.

use hedgerow_example_wasmtime_host::{EdgeModule, PathFilter as Filter};
use hedgerow_paths::{MAX_DEPTH, MAX_HEADER_LENGTH, MAX_INTEGER, PathFilter};
use hedgerow_tests_random::Random;

use crate::support::{
    edge::paths,
    files::{ALL, PATHMAP, RICH},
    texts::damage,
};

/// Asserts that both accept `file`, or refuse it with the same error, which is returned.
fn refusal(edge: &EdgeModule, file: &[u8]) -> Option<String> {
    let shown = String::from_utf8_lossy(file);
    let trusted = (PathFilter::parse_trusted(file), Filter::parse(edge, file, true));
    let checked = (PathFilter::parse(file), Filter::parse(edge, file, false));
    let mut refusals = [trusted, checked].map(|(native, filter)| match (native, filter) {
        (Ok(native), Ok(filter)) => {
            assert_eq!(filter.header(), native.header(), "{shown}");
            assert_eq!(filter.wildcards(), native.wildcards(), "{shown}");
            for key in ["", "/", "/foo", "/foo/bar", "/old-path", "/*"].map(str::as_bytes) {
                assert_eq!(filter.has(key).unwrap(), native.has(key), "{shown}");
            }
            None
        }
        (Err(native), Err(refusal)) => {
            assert_eq!(refusal.to_string(), native.to_string(), "{shown}");
            Some(refusal.to_string())
        }
        (native, filter) => panic!("{:?}, {:?}: {shown}", native.err(), filter.err()),
    });
    refusals[1].take()
}

#[test]
fn every_kind_of_fault_gives_the_same_error() {
    let edge = paths();
    let damages = [
        // (a part of the file, its replacement, the error after "expected ")
        ("{\"v", "[\"v", "{ and a member, found 0x5b at byte 0"),
        (":4", ":4 4", ", or }, found 0x34 at byte 33"),
        ("\"m\":138,", "", "the member m of bloom, found 0x7d at byte 54"),
        (":4", ":-4", "an integer from 0 to 2^53 - 1, found 0x2d at byte 31"),
        ("138", "0", "a number of bits m from 1 to 2^32 - 1, found 0 at byte 46"),
        ("138", "4294967296", "a number of bits m from 1 to 2^32 - 1, found 4294967296 at byte 46"),
        (
            "138",
            "9007199254740991",
            "a number of bits m from 1 to 2^32 - 1, found 9007199254740991 at byte 46",
        ),
        ("23", "65", "a number of hashes k from 1 to 64, found 65 at byte 54"),
        (
            "138",
            "4294967295",
            "715827883 characters of Base64 in line 2, or more, found 24 at byte 73",
        ),
        ("\"b", "\"version\":\"\",\"b", "a member only once, found 0x22 at byte 28"),
        ("\"b", "\"\\u0062\":1,\"b", "a member whose name has no escape, found 0x31 at byte 27"),
        ("/A", "/AA", "24 characters of Base64 in line 2, or fewer, found 25 at byte 66"),
        ("\"/", "/", "the quote that opens line 2, found 0x2f at byte 65"),
        ("/A\"", "/A", "the quote that closes line 2, found the end at byte 90"),
        ("/A\"", "/A\"\n{}", "the end of the file, found 0x0a at byte 91"),
        ("\"/q", "\"-q", "a character of Base64, found 0x2d at byte 66"),
        ("{\"v", "\u{feff}{\"v", "no byte order mark, found 0xef at byte 0"),
    ];
    for (part, other, error) in damages {
        let file = PATHMAP.replacen(part, other, 1);
        let expected = format!("expected {error}");
        assert_eq!(refusal(&edge, file.as_bytes()), Some(expected), "{file}");
    }
    for file in [PATHMAP, RICH] {
        assert_eq!(refusal(&edge, file.as_bytes()), None);
    }
}

#[test]
fn limits_are_the_same() {
    let edge = paths();
    let line = PATHMAP.lines().next().unwrap().len() - "test".len();
    for length in MAX_HEADER_LENGTH - 1..=MAX_HEADER_LENGTH + 1 {
        let file = PATHMAP.replacen("test", &"v".repeat(length - line), 1);
        let is_refused = refusal(&edge, file.as_bytes()).is_some();
        assert_eq!(is_refused, length > MAX_HEADER_LENGTH, "a line of {length}");
    }
    for depth in 1..=MAX_DEPTH as usize + 1 {
        let nested = format!("{{\"a\":{}{},\"v", "[".repeat(depth), "]".repeat(depth));
        let file = PATHMAP.replacen("{\"v", &nested, 1);
        let is_refused = refusal(&edge, file.as_bytes()).is_some();
        assert_eq!(is_refused, depth > MAX_DEPTH as usize, "{depth}");
    }
    for seed in MAX_INTEGER - 1..=MAX_INTEGER + 1 {
        let file = PATHMAP.replacen("\"s\":0", &format!("\"s\":{seed}"), 1);
        let is_refused = refusal(&edge, file.as_bytes()).is_some();
        assert_eq!(is_refused, seed > MAX_INTEGER, "{seed}");
    }
}

#[test]
fn strings_of_any_length_and_content_are_read_as_natively() {
    let edge = paths();
    let parts: [&[u8]; 10] = [
        b"\"",
        b"\\",
        b"\\\"",
        b"\x1f",
        b"\xff",
        b"\xc3",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xc3\xa9",
        b"\x7f",
    ];
    for (before, after) in (0..40).flat_map(|before| [(before, 0), (before, 9)]) {
        for part in parts {
            let version = [&*b"v".repeat(before), part, &*b"v".repeat(after)];
            let [start, end] = [&PATHMAP.as_bytes()[..12], &PATHMAP.as_bytes()[16..]];
            refusal(&edge, &[start, &version.concat(), end].concat());
        }
    }
}

#[test]
fn every_truncation_gives_the_same_error() {
    let edge = paths();
    for file in ALL.into_iter().chain([RICH]).map(str::as_bytes) {
        for length in 0..file.len() {
            assert!(refusal(&edge, &file[..length]).is_some(), "{length} bytes");
        }
    }
}

#[test]
fn every_damage_has_the_same_outcome() {
    let edge = paths();
    let mut random = Random(1);
    let mut refused = 0;
    for _ in 0..20_000 {
        let file = if random.once_in(2) { RICH } else { random.pick(&ALL) };
        let mut file = file.as_bytes().to_vec();
        for _ in 0..random.within(1..4) {
            damage(&mut random, &mut file);
        }
        refused += u32::from(refusal(&edge, &file).is_some());
    }
    assert!((10_000..20_000).contains(&refused), "{refused} were refused");
}
