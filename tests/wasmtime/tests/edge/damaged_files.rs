//! Damaged files. The host refuses them, or answers without a trap. It accepts the files that native
//! code accepts.

use hedgerow_example_wasmtime_host::{EdgeModule, PathFilter as Filter};
use hedgerow_paths::PathFilter;
use hedgerow_tests_random::Random;

use crate::support::{
    edge::paths,
    files::{ALL, FUSE, PATHMAP, RICH},
    texts::damage,
};

/// Returns whether the host refuses `file`. Asserts that it accepts what the native reader accepts, with
/// the same results.
fn is_refused(edge: &EdgeModule, file: &[u8]) -> bool {
    let shown = String::from_utf8_lossy(file);
    let trusted = (PathFilter::parse_trusted(file), Filter::parse(edge, file, true));
    let checked = (PathFilter::parse(file), Filter::parse(edge, file, false));
    let [_, refused] = [trusted, checked].map(|(native, filter)| {
        let keys = ["", "/", "/foo", "/foo/bar", "/old-path", "/*"].map(str::as_bytes);
        match (native, filter) {
            (Ok(native), Ok(filter)) => {
                assert_eq!(filter.header(), native.header(), "{shown}");
                assert_eq!(filter.wildcards(), native.wildcards(), "{shown}");
                for key in keys {
                    assert_eq!(filter.has(key).unwrap(), native.has(key), "{shown}");
                }
                false
            }
            // The host reads the first line with a general JSON parser, which accepts more members.
            (Err(_), Ok(filter)) => {
                keys.iter().for_each(|key| _ = filter.has(key).unwrap());
                false
            }
            (Err(_), Err(_)) => true,
            // The general parser refuses half a surrogate pair, and numbers beyond those of a double.
            (Ok(_), Err(error)) => {
                assert!(error.is::<serde_json::Error>(), "{error}: {shown}");
                true
            }
        }
    });
    refused
}

#[test]
fn files_that_no_reader_may_accept_are_refused() {
    let edge = paths();
    let damages = [
        // (a part of the file, its replacement)
        ("{\"v", "[\"v"),
        ("\"m\":138,", ""),
        ("138", "0"),
        ("138", "4294967296"),
        ("138", "4294967295"),
        ("23", "0"),
        ("23", "65"),
        ("\"s\":0", "\"s\":9007199254740992"),
        ("}}", "},\"fuse\":{}}"),
        ("/A", "/AA"),
        ("\"/", "/"),
        ("/A\"", "/A"),
        ("/A\"", "/A\"\n{}"),
        ("\"/q", "\"-q"),
        ("{\"v", "\u{feff}{\"v"),
    ];
    for (part, other) in damages {
        let file = PATHMAP.replacen(part, other, 1);
        assert!(is_refused(&edge, file.as_bytes()), "{file}");
    }
    for (part, other) in
        [("20", "24"), ("\"l\":4", "\"l\":10"), ("\"l\":4", "\"l\":0"), ("AA\"", "A=\"")]
    {
        let file = FUSE.replacen(part, other, 1);
        assert!(is_refused(&edge, file.as_bytes()), "{file}");
    }
    for file in [PATHMAP, FUSE, RICH] {
        assert!(!is_refused(&edge, file.as_bytes()));
    }
}

#[test]
fn every_truncation_is_refused() {
    let edge = paths();
    for file in ALL.into_iter().chain([RICH]).map(str::as_bytes) {
        for length in 0..file.len() {
            assert!(is_refused(&edge, &file[..length]), "{length} bytes");
        }
    }
}

#[test]
fn every_damage_is_refused_or_answered_without_a_trap() {
    let edge = paths();
    let mut random = Random(1);
    let mut refused = 0;
    for _ in 0..20_000 {
        let file = if random.once_in(2) { RICH } else { random.pick(&ALL) };
        let mut file = file.as_bytes().to_vec();
        for _ in 0..random.within(1..4) {
            damage(&mut random, &mut file);
        }
        refused += u32::from(is_refused(&edge, &file));
    }
    assert!((5_000..20_000).contains(&refused), "{refused} were refused");
}
