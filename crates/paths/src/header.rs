//! The first line of a filter.

use core::ops::Range;

use crate::{
    format_error::FormatError,
    json::Cursor,
    limits::{MAX_BITS, MAX_HASHES, MAX_WILDCARD_DEPTH},
};

/// What the first line says.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub n: u64,
    pub m: u32,
    pub k: u32,
    pub s: u64,
    /// The depth of the deepest wildcard key, 0 if there are none.
    pub wildcards: u32,
    /// Where the text of the version lies, as it is written.
    pub version: Range<usize>,
    /// Where the rate lies.
    pub p: Range<usize>,
}

impl Header {
    pub(crate) fn parse(line: &[u8]) -> Result<Self, FormatError> {
        let text = core::str::from_utf8(line)
            .map_err(|error| FormatError::at(line, error.valid_up_to(), "UTF-8"))?;
        let mut cursor = Cursor::new(text);
        let (mut version, mut bloom, mut wildcards) = (None, None, None);
        cursor.object(|cursor, name| match name {
            b"version" => once(cursor, &mut version, Cursor::string),
            b"bloom" => once(cursor, &mut bloom, Bloom::parse),
            b"wildcards" => once(cursor, &mut wildcards, |cursor| {
                number(cursor, MAX_WILDCARD_DEPTH, "a depth from 1 to 64")
            }),
            _ => unknown(cursor, name),
        })?;
        let missing = |expected| cursor.before(expected);
        let version = version.ok_or_else(|| missing("the member version"))?;
        let bloom = bloom.ok_or_else(|| missing("the member bloom"))?;
        cursor.end()?;
        let Bloom { n, p, m, k, s } = bloom;
        Ok(Self { n, m, k, s, wildcards: wildcards.unwrap_or(0), version, p })
    }
}

/// The member `bloom`.
struct Bloom {
    n: u64,
    p: Range<usize>,
    m: u32,
    k: u32,
    s: u64,
}

impl Bloom {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, FormatError> {
        let (mut n, mut p, mut m, mut k, mut s) = (None, None, None, None, None);
        cursor.object(|cursor, name| match name {
            b"n" => once(cursor, &mut n, Cursor::integer),
            b"p" => once(cursor, &mut p, Cursor::fraction),
            b"m" => once(cursor, &mut m, |cursor| {
                number(cursor, MAX_BITS, "a number of bits m from 1 to 2^32 - 1")
            }),
            b"k" => once(cursor, &mut k, |cursor| {
                number(cursor, MAX_HASHES, "a number of hashes k from 1 to 64")
            }),
            b"s" => once(cursor, &mut s, Cursor::integer),
            _ => unknown(cursor, name),
        })?;
        // The brace that closes the object is where a member is missing.
        let missing = |expected| cursor.before(expected);
        Ok(Self {
            n: n.ok_or_else(|| missing("the member n of bloom"))?,
            p: p.ok_or_else(|| missing("the member p of bloom"))?,
            m: m.ok_or_else(|| missing("the member m of bloom"))?,
            k: k.ok_or_else(|| missing("the member k of bloom"))?,
            s: s.ok_or_else(|| missing("the member s of bloom"))?,
        })
    }
}

/// Reads a member that there may be only one of: other parsers differ in which they take.
fn once<'a, T>(
    cursor: &mut Cursor<'a>,
    member: &mut Option<T>,
    read: impl FnOnce(&mut Cursor<'a>) -> Result<T, FormatError>,
) -> Result<(), FormatError> {
    if member.is_some() {
        return Err(cursor.unexpected("a member only once"));
    }
    *member = Some(read(cursor)?);
    Ok(())
}

/// Goes past a member that may mean something to others. One with an escape in its name may be one
/// of ours to them.
fn unknown(cursor: &mut Cursor<'_>, name: &[u8]) -> Result<(), FormatError> {
    if name.contains(&b'\\') {
        return Err(cursor.unexpected("a member whose name has no escape"));
    }
    cursor.value()
}

fn number(
    cursor: &mut Cursor<'_>,
    largest: u32,
    expected: &'static str,
) -> Result<u32, FormatError> {
    let offset = cursor.offset();
    let number = cursor.integer()?;
    match u32::try_from(number) {
        Ok(number) if number > 0 && number <= largest => Ok(number),
        _ => Err(FormatError::number(offset, number, expected)),
    }
}
