//! The first line of a filter file.

use core::ops::{Range, RangeInclusive};

use crate::{
    cursor::Cursor,
    limits::{
        MAX_BITS, MAX_HASHES, MAX_HEADER_LENGTH, MAX_INTEGER, MAX_SEGMENT_LENGTH, MAX_SLOTS,
        MAX_WILDCARD_DEPTH,
    },
    query::are_segments,
};

/// The members of the first line.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub numbers: Numbers,
    /// Depth of the deepest wildcard key, or 0 if there is none.
    pub wildcards: u32,
    /// Range of the text of the version, with its escapes.
    pub version: Range<usize>,
}

/// The numbers of a filter, by the kind of its body.
#[derive(Clone, Debug)]
pub(crate) enum Numbers {
    Bloom {
        n: u64,
        m: u32,
        k: u32,
        s: u64,
        /// Range of the rate.
        p: Range<usize>,
    },
    Fuse {
        n: u64,
        m: u32,
        l: u32,
        q: u64,
        s: u64,
    },
}

/// An integer member.
struct Integer {
    name: &'static [u8],
    range: RangeInclusive<u64>,
    expected: &'static str,
    missing: &'static str,
}

impl Integer {
    /// Returns a member of any integer.
    const fn any(name: &'static [u8], missing: &'static str) -> Self {
        Self { name, range: 0..=MAX_INTEGER, expected: "an integer from 0 to 2^53 - 1", missing }
    }
}

/// The integers of the member `bloom`.
const BLOOM: [Integer; 4] = [
    Integer::any(b"n", "the member n of bloom"),
    Integer {
        name: b"m",
        range: 1..=MAX_BITS as u64,
        expected: "a number of bits m from 1 to 2^32 - 1",
        missing: "the member m of bloom",
    },
    Integer {
        name: b"k",
        range: 1..=MAX_HASHES as u64,
        expected: "a number of hashes k from 1 to 64",
        missing: "the member k of bloom",
    },
    Integer::any(b"s", "the member s of bloom"),
];

/// The integers of the member `fuse`.
const FUSE: [Integer; 5] = [
    Integer::any(b"n", "the member n of fuse"),
    Integer {
        name: b"m",
        range: 3..=MAX_SLOTS as u64,
        expected: "a number of slots m from 3 to 2^28",
        missing: "the member m of fuse",
    },
    Integer {
        name: b"l",
        range: 1..=MAX_SEGMENT_LENGTH as u64,
        expected: "a segment length l from 1 to 2^16",
        missing: "the member l of fuse",
    },
    Integer::any(b"q", "the member q of fuse"),
    Integer::any(b"s", "the member s of fuse"),
];

/// Reads the first line and its line end.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Option<Header> {
    if cursor.bytes.starts_with(b"\xef\xbb\xbf") {
        return cursor.fail("no byte order mark");
    }
    let (mut version, mut numbers, mut wildcards) = (None, None, None);
    let mut is_first = true;
    cursor.open()?;
    while let Some(name) = cursor.member(&mut is_first)? {
        match name {
            b"version" => {
                once(cursor, version.is_some())?;
                version = Some(cursor.string()?);
            }
            b"bloom" | b"fuse" if numbers.is_some() => {
                return cursor.fail("one of the members bloom and fuse, only once");
            }
            b"bloom" => numbers = Some(read_bloom(cursor)?),
            b"fuse" => numbers = Some(read_fuse(cursor)?),
            b"wildcards" => {
                once(cursor, wildcards.is_some())?;
                let range = 1..=u64::from(MAX_WILDCARD_DEPTH);
                wildcards = Some(cursor.integer(&range, "a depth from 1 to 64")?);
            }
            _ => skip_unknown(cursor, name)?,
        }
    }
    let Some(version) = version else {
        return cursor.missing("the member version");
    };
    let Some(numbers) = numbers else {
        return cursor.missing("the member bloom or fuse");
    };
    cursor.end_of_line()?;
    let line = &cursor.bytes[..cursor.at - 1];
    let length = line.strip_suffix(b"\r").unwrap_or(line).len();
    if length > MAX_HEADER_LENGTH {
        cursor.at = 0;
        return cursor.fail_number(length as u64, "a first line of at most 65536 bytes");
    }
    // Its range fits into 32 bits.
    let wildcards = wildcards.unwrap_or(0) as u32;
    Some(Header { numbers, wildcards, version })
}

/// Reads the member `bloom`.
fn read_bloom(cursor: &mut Cursor<'_>) -> Option<Numbers> {
    let mut rate = None;
    let [n, m, k, s] = read_integers(cursor, &BLOOM, |cursor, name| {
        let is_rate = name == b"p";
        if is_rate {
            once(cursor, rate.is_some())?;
            rate = Some(cursor.rate()?);
        }
        Some(is_rate)
    })?;
    let Some(p) = rate else {
        return cursor.missing("the member p of bloom");
    };
    // Their ranges fit into 32 bits.
    Some(Numbers::Bloom { n, m: m as u32, k: k as u32, s, p })
}

/// Reads the member `fuse`.
fn read_fuse(cursor: &mut Cursor<'_>) -> Option<Numbers> {
    let [n, m, l, q, s] = read_integers(cursor, &FUSE, |_, _| Some(false))?;
    if !are_segments(m, l) {
        cursor.at -= 1;
        return cursor.fail_number(m, "a number of slots m that is a multiple of l, at least 3 l");
    }
    // Their ranges fit into 32 bits.
    Some(Numbers::Fuse { n, m: m as u32, l: l as u32, q, s })
}

/// Reads an object with the members `expected`. `read_other` reads a member that is none of them, and
/// returns whether it knows it.
fn read_integers<'a, const COUNT: usize>(
    cursor: &mut Cursor<'a>,
    expected: &[Integer; COUNT],
    mut read_other: impl FnMut(&mut Cursor<'a>, &[u8]) -> Option<bool>,
) -> Option<[u64; COUNT]> {
    let mut integers = [None; COUNT];
    let mut is_first = true;
    cursor.open()?;
    while let Some(name) = cursor.member(&mut is_first)? {
        if let Some(index) = expected.iter().position(|member| member.name == name) {
            once(cursor, integers[index].is_some())?;
            integers[index] =
                Some(cursor.integer(&expected[index].range, expected[index].expected)?);
        } else if !read_other(cursor, name)? {
            skip_unknown(cursor, name)?;
        }
    }
    let mut found = [0; COUNT];
    for ((found, integer), member) in found.iter_mut().zip(integers).zip(expected) {
        let Some(integer) = integer else {
            return cursor.missing(member.missing);
        };
        *found = integer;
    }
    Some(found)
}

/// Rejects a duplicate member, since parsers differ in which of the two they use.
fn once(cursor: &mut Cursor<'_>, is_there: bool) -> Option<()> {
    if is_there { cursor.fail("a member only once") } else { Some(()) }
}

/// Skips an unknown member. Rejects an escape in its name, since other parsers would unescape it and
/// could read it as one of the known members.
fn skip_unknown(cursor: &mut Cursor<'_>, name: &[u8]) -> Option<()> {
    if name.contains(&b'\\') {
        return cursor.fail("a member whose name has no escape");
    }
    cursor.value()
}
