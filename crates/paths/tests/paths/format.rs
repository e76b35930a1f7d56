//! Invalid files, each refused with what was expected, what was found and where.

use hedgerow_paths::{Found, MAX_HEADER_LENGTH, PathFilter, PathFilterBuilder};
use proptest::{collection::vec, prelude::*};

const LINE_1: &str = r#"{"version":"test","bloom":{"n":4,"p":1e-7,"m":138,"k":23,"s":0}}"#;
const LINE_2: &str = r#""/qqpVeKKgABfaKAFV6qqii/A""#;

fn file() -> String {
    format!("{LINE_1}\n{LINE_2}")
}

fn refusal(file: impl AsRef<[u8]>) -> String {
    let file = file.as_ref();
    let error = PathFilter::parse(file).expect_err(&String::from_utf8_lossy(file));
    let (same, returned) = PathFilter::from_vec(file.to_vec(), false).unwrap_err();
    assert_eq!((same, &*returned), (error, file));
    assert!(error.offset <= file.len(), "{error}");
    if let Found::Byte(byte) = error.found {
        assert_eq!(file[error.offset], byte);
    }
    error.to_string()
}

#[test]
fn members_are_checked_one_by_one() {
    let cases = [
        // (a part of the file, its replacement, the error after "expected ")
        (r#""n":4"#, r#""n":-4"#, "an integer from 0 to 2^53 - 1, found 0x2d at byte 31"),
        (r#""n":4"#, r#""n":4.0"#, "an integer from 0 to 2^53 - 1, found 0x2e at byte 32"),
        (r#""n":4"#, r#""n":4e1"#, "an integer from 0 to 2^53 - 1, found 0x65 at byte 32"),
        (r#""n":4"#, r#""n":04"#, "an integer from 0 to 2^53 - 1, found 0x34 at byte 32"),
        (r#""n":4"#, r#""n":00"#, "an integer from 0 to 2^53 - 1, found 0x30 at byte 32"),
        (r#""n":4"#, r#""n":"4""#, "an integer from 0 to 2^53 - 1, found 0x22 at byte 31"),
        (r#""n":4"#, r#""n":"#, "an integer from 0 to 2^53 - 1, found 0x2c at byte 31"),
        (
            r#""n":4"#,
            r#""n":9007199254740992"#,
            "an integer from 0 to 2^53 - 1, found 0x32 at byte 46",
        ),
        (r#""n":4,"#, "", "the member n of bloom, found 0x7d at byte 56"),
        (r#""p":1e-7,"#, "", "the member p of bloom, found 0x7d at byte 53"),
        (r#""m":138,"#, "", "the member m of bloom, found 0x7d at byte 54"),
        (r#""k":23,"#, "", "the member k of bloom, found 0x7d at byte 55"),
        (r#","s":0"#, "", "the member s of bloom, found 0x7d at byte 56"),
        (r#""version":"test","#, "", "the member version, found 0x7d at byte 46"),
        (r#""bloom""#, r#""blossom""#, "the member bloom or fuse, found 0x7d at byte 65"),
        (r#""test""#, "1", "a string, found 0x31 at byte 11"),
        (r#"{"n""#, r#"[{"n""#, "{ and a member, found 0x5b at byte 26"),
        (r#""p":1e-7"#, r#""p":-1e-7"#, "a number that is not negative, found 0x2d at byte 37"),
        (r#""p":1e-7"#, r#""p":null"#, "a value, found 0x6e at byte 37"),
        (r#""m":138"#, r#""m":0"#, "a number of bits m from 1 to 2^32 - 1, found 0 at byte 46"),
        (
            r#""m":138"#,
            r#""m":4294967296"#,
            "a number of bits m from 1 to 2^32 - 1, found 4294967296 at byte 46",
        ),
        (r#""k":23"#, r#""k":0"#, "a number of hashes k from 1 to 64, found 0 at byte 54"),
        (r#""k":23"#, r#""k":65"#, "a number of hashes k from 1 to 64, found 65 at byte 54"),
        (r#""s":0"#, r#""s":-1"#, "an integer from 0 to 2^53 - 1, found 0x2d at byte 61"),
        (r#""s":0"#, r#""s":0,"m":138"#, "a member only once, found 0x31 at byte 67"),
        (
            r#""s":0"#,
            r#""s":0,"\u006d":138"#,
            "a member whose name has no escape, found 0x31 at byte 72",
        ),
        (r#""s":0}"#, r#""s":0},"wildcards":0"#, "a depth from 1 to 64, found 0 at byte 76"),
        (r#""s":0}"#, r#""s":0},"wildcards":65"#, "a depth from 1 to 64, found 65 at byte 76"),
        (r#""s":0}}"#, r#""s":0}} 1"#, "the end of line 1, found 0x31 at byte 65"),
    ];
    for (part, other, expected) in cases {
        assert!(file().contains(part), "{part}");
        assert_eq!(refusal(file().replacen(part, other, 1)), format!("expected {expected}"));
    }
}

#[test]
fn invalid_json_is_refused_at_the_fault() {
    let cases = [
        ("", "{ and a member, found the end at byte 0"),
        ("\n", "{ and a member, found 0x0a at byte 0"),
        ("x\n", "{ and a member, found 0x78 at byte 0"),
        ("null\n", "{ and a member, found 0x6e at byte 0"),
        ("{\n", "a string, found 0x0a at byte 1"),
        ("{", "a string, found the end at byte 1"),
        ("{}\n", "the member version, found 0x7d at byte 1"),
        ("{,}\n", "a string, found 0x2c at byte 1"),
        ("{\"a\"}\n", ":, found 0x7d at byte 4"),
        ("{\"a\":}\n", "a value, found 0x7d at byte 5"),
        ("{\"a\":1 2}\n", ", or }, found 0x32 at byte 7"),
        ("{\"a\":1,}\n", "a string, found 0x7d at byte 7"),
        ("{\"a\":[1 2]}\n", ", or ], found 0x32 at byte 8"),
        ("{\"a\":tru}\n", "a value, found 0x7d at byte 8"),
        ("{\"a\":1.}\n", "a digit, found 0x7d at byte 7"),
        ("{\"a\":01}\n", "a number without leading zeros, found 0x7d at byte 7"),
        ("{\"a\":\"\\x\"}\n", "an escape, found 0x78 at byte 7"),
        ("{\"a\":\"\\u12g4\"}\n", "a hexadecimal digit, found 0x67 at byte 10"),
        ("{\"a\":\"\t\"}\n", "a character of a string, or its end, found 0x09 at byte 6"),
        ("{\"a\":\"\n", "a character of a string, or its end, found 0x0a at byte 6"),
    ];
    for (file, expected) in cases {
        assert_eq!(refusal(file), format!("expected {expected}"));
    }
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let mut bytes = file().into_bytes();
    bytes[13] = 0xe9;
    assert_eq!(refusal(&bytes), "expected UTF-8, found 0xe9 at byte 13");
    let with_mark = format!("\u{feff}{}", file());
    assert_eq!(refusal(with_mark), "expected no byte order mark, found 0xef at byte 0");
    let utf16: Vec<u8> = file().encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(refusal(utf16), "expected a string, found 0x00 at byte 1");
}

#[test]
fn the_second_line_must_agree_with_the_first() {
    let with = |line_2: &str| format!("{LINE_1}\n{line_2}");
    let cases = [
        ("", "the quote that opens line 2, found the end at byte 65"),
        ("A", "the quote that opens line 2, found 0x41 at byte 65"),
        ("\n\"A\"", "the quote that opens line 2, found 0x0a at byte 65"),
        ("\"", "23 characters of Base64 in line 2, or more, found 0 at byte 66"),
        ("\"A", "23 characters of Base64 in line 2, or more, found 1 at byte 66"),
        ("\"/qqpVeKKgABfaKAFV6qqii/A", "the quote that closes line 2, found the end at byte 90"),
        ("\"\"", "23 characters of Base64 in line 2, or more, found 0 at byte 66"),
        (
            "\"/qqpVeKKgABfaKAFV6qqii\"",
            "23 characters of Base64 in line 2, or more, found 22 at byte 66",
        ),
        (
            "\"/qqpVeKKgABfaKAFV6qqii==\"",
            "23 characters of Base64 in line 2, or more, found 22 at byte 66",
        ),
        (
            "\"/qqpVeKKgABfaKAFV6qqii/AA\"",
            "24 characters of Base64 in line 2, or fewer, found 25 at byte 66",
        ),
        ("\"/qqpVeKKgABfaKAFV6qqii/A\"\n\n", "the end of the file, found 0x0a at byte 91"),
        ("\"/qqpVeKKgABfaKAFV6qqii/A\"\r", "the end of the file, found 0x0d at byte 91"),
        ("\"/qqpVeKKgABfaKAFV6qqii/A\"}", "the end of the file, found 0x7d at byte 91"),
        ("\"/qqpVeKKgABfaKAFV6qqii\\/\"", "a character of Base64, found 0x5c at byte 88"),
        ("\"/qqpVeKKgABf-KAFV6qqii/A\"", "a character of Base64, found 0x2d at byte 78"),
        (
            "\"/qqpVeKKgABfaKAFV6q===\"",
            "23 characters of Base64 in line 2, or more, found 20 at byte 66",
        ),
        ("\"/qqpVeKKgABfaKAFV6=qii/A\"", "a character of Base64, found 0x3d at byte 84"),
    ];
    for (line_2, expected) in cases {
        assert_eq!(refusal(with(line_2)), format!("expected {expected}"));
    }
    let accepted = ["\"/qqpVeKKgABfaKAFV6qqii/\"", "\"/qqpVeKKgABfaKAFV6qqii/=\""];
    for line_2 in accepted {
        assert!(PathFilter::parse(with(line_2).as_bytes()).unwrap().has(b"/foo"), "{line_2}");
    }
}

#[test]
fn either_line_end_and_unknown_members_are_accepted() {
    let more = r#"{"also":[{"m":[1,-2.5e+3,true,null]},"}\"\\\ud800"],"version":"tes\u0074","#
        .to_owned()
        + r#""bloom":{"x":{},"n":4,"p":0.0000001,"m":138,"k":23,"s":0,"y":[]} , "z" : 0 }"#;
    for line_1 in [LINE_1, &more] {
        for end in ["\n", "\r\n"] {
            for last in ["", "\n", "\r\n"] {
                let file = format!("{line_1}{end}{LINE_2}{last}");
                let filter = PathFilter::parse(file.as_bytes()).unwrap();
                assert!(filter.has(b"/foo/bar"));
                assert_eq!((filter.params().p, &*filter.version()), (1e-7, "test"));
            }
        }
    }
}

#[test]
fn the_first_line_has_a_maximum_length_and_depth() {
    let padded = |length: usize| {
        let line = LINE_1.replace("test", &"x".repeat(length + 4 - LINE_1.len()));
        assert_eq!(line.len(), length);
        format!("{line}\n{LINE_2}")
    };
    for end in ["\n", "\r\n"] {
        let file = padded(MAX_HEADER_LENGTH).replacen('\n', end, 1);
        assert!(PathFilter::parse(file.as_bytes()).is_ok());
    }
    assert_eq!(
        refusal(padded(MAX_HEADER_LENGTH + 1)),
        "expected a first line of at most 65536 bytes, found 65537 at byte 0"
    );
    let nested = |depth: usize| {
        let value = "[".repeat(depth) + &"]".repeat(depth);
        file().replacen('{', &format!("{{\"x\":{value},"), 1)
    };
    assert!(PathFilter::parse(nested(32).as_bytes()).is_ok());
    assert_eq!(refusal(nested(33)), "expected no deeper nesting, found 0x5b at byte 37");
}

#[test]
fn a_header_that_claims_more_bits_than_the_file_has_is_refused() {
    let file = file().replace("138", "4294967295");
    assert_eq!(
        refusal(file),
        "expected 715827883 characters of Base64 in line 2, or more, found 24 at byte 73"
    );
}

#[test]
fn every_truncation_is_refused() {
    let file = file();
    for length in 0..file.len() {
        refusal(&file[..length]);
    }
}

proptest! {
    #[test]
    fn damaged_files_are_refused_or_queried_without_a_panic(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        keys in vec("/[a-z]{1,9}", 0..5),
    ) {
        let mut file = PathFilterBuilder::new().false_positive_rate(0.01).build(&keys).unwrap();
        for (index, byte) in changes {
            *index.get_mut(&mut file) = byte;
        }
        for filter in [PathFilter::parse(&file), PathFilter::parse_trusted(&file)] {
            match filter {
                Err(error) => prop_assert!(error.offset <= file.len()),
                Ok(filter) => {
                    filter.has(b"/");
                    let _ = (filter.params(), filter.version(), filter.false_positive_rate());
                }
            }
        }
    }
}

const FUSE: &str = r#"{"version":"","fuse":{"n":0,"m":3,"l":1,"q":1,"s":0}}
"AAAAAAAAAAAA""#;

#[test]
fn the_members_of_fuse_are_checked_one_by_one() {
    let segments = "a number of slots m that is a multiple of l, at least 3 l";
    let once = "one of the members bloom and fuse, only once";
    let cases = [
        (r#""n":0,"#, "", "the member n of fuse, found 0x7d at byte 45"),
        (r#""m":3,"#, "", "the member m of fuse, found 0x7d at byte 45"),
        (r#""l":1,"#, "", "the member l of fuse, found 0x7d at byte 45"),
        (r#""q":1,"#, "", "the member q of fuse, found 0x7d at byte 45"),
        (r#","s":0"#, "", "the member s of fuse, found 0x7d at byte 45"),
        (r#""m":3"#, r#""m":2"#, "a number of slots m from 3 to 2^28, found 2 at byte 32"),
        (
            r#""m":3"#,
            r#""m":268435457"#,
            "a number of slots m from 3 to 2^28, found 268435457 at byte 32",
        ),
        (r#""l":1"#, r#""l":0"#, "a segment length l from 1 to 2^16, found 0 at byte 38"),
        (r#""l":1"#, r#""l":65537"#, "a segment length l from 1 to 2^16, found 65537 at byte 38"),
        (r#""q":1"#, r#""q":-1"#, "an integer from 0 to 2^53 - 1, found 0x2d at byte 44"),
        (r#""l":1"#, r#""l":1,"l":1"#, "a member only once, found 0x31 at byte 44"),
        (r#""l":1"#, r#""l":2"#, &format!("{segments}, found 3 at byte 51")),
        (r#""m":3"#, r#""m":4"#, "16 characters of Base64 in line 2, or more, found 12 at byte 55"),
        (r#"}}"#, r#"},"fuse":{}}"#, &format!("{once}, found 0x7b at byte 60")),
        (r#"}}"#, r#"},"bloom":{}}"#, &format!("{once}, found 0x7b at byte 61")),
        (r#"AA""#, r#"A=""#, "12 characters of Base64 in line 2, or more, found 11 at byte 55"),
        (r#"AA""#, r#"AA=""#, "12 characters of Base64 in line 2, or fewer, found 13 at byte 55"),
        (r#"AA""#, r#"AAA""#, "12 characters of Base64 in line 2, or fewer, found 13 at byte 55"),
        (r#"AA""#, r#"A-""#, "a character of Base64, found 0x2d at byte 66"),
    ];
    for (part, other, expected) in cases {
        assert!(FUSE.contains(part), "{part}");
        assert_eq!(refusal(FUSE.replacen(part, other, 1)), format!("expected {expected}"));
    }
    let more = FUSE.replacen(r#""n":0"#, r#""x":[],"k":9,"p":-1,"n":0"#, 1);
    for file in [FUSE, &more] {
        for end in ["", "\n", "\r\n"] {
            assert!(PathFilter::parse(format!("{file}{end}").as_bytes()).is_ok());
        }
    }
}
