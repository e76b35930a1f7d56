//! The first line of a filter file.

use core::ops::{Range, RangeInclusive};

use crate::{
    cursor::Cursor,
    limits::{MAX_BITS, MAX_HASHES, MAX_HEADER_LENGTH, MAX_INTEGER, MAX_WILDCARD_DEPTH},
};

/// The members of the first line.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub n: u64,
    pub m: u32,
    pub k: u32,
    pub s: u64,
    /// Depth of the deepest wildcard key, or 0 if there is none.
    pub wildcards: u32,
    /// Range of the text of the version, with its escapes.
    pub version: Range<usize>,
    /// Range of the rate.
    pub p: Range<usize>,
}

/// An integer member.
struct Integer {
    name: &'static [u8],
    range: RangeInclusive<u64>,
    expected: &'static str,
    missing: &'static str,
}

const ANY: &str = "an integer from 0 to 2^53 - 1";

/// The integers of the member `bloom`.
const BLOOM: [Integer; 4] = [
    Integer { name: b"n", range: 0..=MAX_INTEGER, expected: ANY, missing: "the member n of bloom" },
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
    Integer { name: b"s", range: 0..=MAX_INTEGER, expected: ANY, missing: "the member s of bloom" },
];

/// Reads the first line and its line end.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Option<Header> {
    if cursor.bytes.starts_with(b"\xef\xbb\xbf") {
        return cursor.fail("no byte order mark");
    }
    let (mut version, mut bloom, mut wildcards) = (None, None, None);
    let mut is_first = true;
    cursor.open()?;
    while let Some(name) = cursor.member(&mut is_first)? {
        match name {
            b"version" => {
                once(cursor, version.is_some())?;
                version = Some(cursor.string()?);
            }
            b"bloom" => {
                once(cursor, bloom.is_some())?;
                bloom = Some(read_bloom(cursor)?);
            }
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
    let Some(([n, m, k, s], p)) = bloom else {
        return cursor.missing("the member bloom");
    };
    cursor.end_of_line()?;
    let line = &cursor.bytes[..cursor.at - 1];
    let length = line.strip_suffix(b"\r").unwrap_or(line).len();
    if length > MAX_HEADER_LENGTH {
        cursor.at = 0;
        return cursor.fail_number(length as u64, "a first line of at most 65536 bytes");
    }
    // Their ranges fit into 32 bits.
    let (m, k, wildcards) = (m as u32, k as u32, wildcards.unwrap_or(0) as u32);
    Some(Header { n, m, k, s, wildcards, version, p })
}

/// Reads the member `bloom`. Returns its integers, in the order of [`BLOOM`], and the range of the
/// rate.
#[inline(never)]
fn read_bloom(cursor: &mut Cursor<'_>) -> Option<([u64; BLOOM.len()], Range<usize>)> {
    let (mut integers, mut rate) = ([None; BLOOM.len()], None);
    let mut is_first = true;
    cursor.open()?;
    while let Some(name) = cursor.member(&mut is_first)? {
        if let Some(index) = BLOOM.iter().position(|member| member.name == name) {
            let Integer { range, expected, .. } = &BLOOM[index];
            once(cursor, integers[index].is_some())?;
            integers[index] = Some(cursor.integer(range, expected)?);
        } else if name == b"p" {
            once(cursor, rate.is_some())?;
            rate = Some(cursor.rate()?);
        } else {
            skip_unknown(cursor, name)?;
        }
    }
    let mut found = [0; BLOOM.len()];
    for ((found, integer), member) in found.iter_mut().zip(integers).zip(&BLOOM) {
        let Some(integer) = integer else {
            return cursor.missing(member.missing);
        };
        *found = integer;
    }
    match rate {
        Some(rate) => Some((found, rate)),
        None => cursor.missing("the member p of bloom"),
    }
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
