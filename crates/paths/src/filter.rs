//! A filter, read where it lies.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::{fmt, ops::Range};

use crate::{
    alphabet::{bits_of, first_illegal},
    cursor::Cursor,
    format_error::FormatError,
    hash::KeyHash,
    header::{self, Header},
    probes::Probes,
    sizing, version,
};

/// What the first line of a filter says of its bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The number of keys.
    pub n: u64,
    /// The false-positive rate that was asked for.
    pub p: f64,
    /// The number of bits.
    pub m: u32,
    /// The number of bits of a key.
    pub k: u32,
    /// The seed.
    pub s: u64,
}

/// A set of paths that may say "present" of a path that is not in it, at a rate that was chosen when
/// it was built, and that never says "absent" of one that is.
///
/// It reads the file in place: to parse one touches its first line and the ends of the second, and,
/// unless it is trusted, looks through the second once for what is not Base64. Nothing is decoded,
/// copied or allocated.
///
/// # Example
///
/// ```
/// use hedgerow_paths::PathFilter;
///
/// let file = br#"{"version":"1","bloom":{"n":4,"p":1e-7,"m":138,"k":23,"s":0}}
/// "/qqpVeKKgABfaKAFV6qqii/A""#;
/// let filter = PathFilter::parse(file)?;
/// assert!(filter.has(b"/foo/bar"));
/// assert!(!filter.has(b"/foo/bar/"));
/// # Ok::<(), hedgerow_paths::FormatError>(())
/// ```
#[derive(Clone)]
pub struct PathFilter<'a> {
    file: Cow<'a, [u8]>,
    header: Header,
    probes: Probes,
    body: Range<usize>,
}

impl<'a> PathFilter<'a> {
    /// Reads a filter from the bytes of its file.
    ///
    /// # Errors
    ///
    /// What docs/path-filter.md tells a reader to refuse, with its place.
    ///
    /// # Complexity
    ///
    /// One pass over the file, of about 16 bytes in a nanosecond.
    pub fn parse(file: &'a [u8]) -> Result<Self, FormatError> {
        Self::new(Cow::Borrowed(file), true).map_err(|(error, _)| error)
    }

    /// The same as [`parse`](Self::parse), without the pass over the second line.
    ///
    /// A character there that is not Base64 then stands for bits that are not set: paths that were
    /// in the set may be absent. Nothing worse can happen.
    ///
    /// # Complexity
    ///
    /// Constant, but for the length of the first line.
    pub fn parse_trusted(file: &'a [u8]) -> Result<Self, FormatError> {
        Self::new(Cow::Borrowed(file), false).map_err(|(error, _)| error)
    }

    /// A filter that keeps its file; `is_trusted` as for [`parse_trusted`](Self::parse_trusted).
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), and the file comes back.
    pub fn from_vec(
        file: Vec<u8>,
        is_trusted: bool,
    ) -> Result<PathFilter<'static>, (FormatError, Vec<u8>)> {
        PathFilter::new(Cow::Owned(file), !is_trusted)
            .map_err(|(error, file)| (error, file.into_owned()))
    }

    fn new(file: Cow<'a, [u8]>, is_checked: bool) -> Result<Self, (FormatError, Cow<'a, [u8]>)> {
        let mut cursor = Cursor::new(&file);
        match read(&mut cursor, is_checked) {
            Some((header, body)) => {
                let probes = Probes::new(header.m, header.k);
                Ok(Self { file, header, probes, body })
            }
            None => Err((cursor.error(), file)),
        }
    }

    /// Whether `path` may be in the set; if not, it certainly is not.
    ///
    /// Paths are compared as bytes: normalise them as the builder did.
    ///
    /// # Complexity
    ///
    /// The length of the path, and up to k bits, on average two for an absent one.
    #[inline]
    pub fn has(&self, path: &[u8]) -> bool {
        self.has_hash(KeyHash::of(path, self.header.s))
    }

    /// The same as [`has`](Self::has), for a key that was hashed under this filter's seed.
    #[inline]
    pub fn has_hash(&self, hash: KeyHash) -> bool {
        let body = &self.file[self.body.clone()];
        self.probes.all(hash, |bit| {
            let character = body.get((bit / 6) as usize).copied().unwrap_or_default();
            bits_of(character) << (bit % 6) & 0b10_0000 != 0
        })
    }

    /// What the file says of its bits.
    pub fn params(&self) -> Params {
        let Header { n, m, k, s, ref p, .. } = self.header;
        let p = self.text(p).parse().unwrap_or_default();
        Params { n, p, m, k, s }
    }

    /// What the file says of its version, without JSON's escapes.
    pub fn version(&self) -> String {
        version::unescape(self.text(&self.header.version))
    }

    /// The depth of the deepest key that ends in `/*`, as the number of its slashes; 0 if the file
    /// tells of none. [`MAX_WILDCARD_DEPTH`](crate::MAX_WILDCARD_DEPTH) stands for any depth from
    /// there on.
    pub fn wildcards(&self) -> u32 {
        self.header.wildcards
    }

    /// The seed under which keys are hashed.
    pub fn seed(&self) -> u64 {
        self.header.s
    }

    /// The first line, which is JSON in UTF-8, perhaps with a carriage return at its end.
    pub fn header(&self) -> &[u8] {
        &self.file[..self.body.start - "\n\"".len()]
    }

    /// The bytes of the file.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// How many bits are set.
    ///
    /// # Complexity
    ///
    /// One pass over the file.
    pub fn bits_set(&self) -> u64 {
        let body = &self.file[self.body.clone()];
        let (whole, rest) = (self.header.m / 6, self.header.m % 6);
        let (body, after) = body.split_at(whole as usize);
        let last = after.first().map_or(0, |&character| bits_of(character) >> (6 - rest));
        body.iter()
            .map(|&character| bits_of(character))
            .chain([last])
            .fold(0, |sum, bits| sum + u64::from(bits.count_ones()))
    }

    /// The share of random paths that are not in the set and are said to be present, as a model
    /// expects it of the number of bits that are set. A filter of random bits has no better one.
    pub fn false_positive_rate(&self) -> f64 {
        let Header { n, m, k, .. } = self.header;
        sizing::expected_rate(self.bits_set() as f64 / f64::from(m), n, m, k)
    }

    /// The text at a place of the first line, which is UTF-8.
    fn text(&self, place: &Range<usize>) -> &str {
        core::str::from_utf8(&self.file[place.clone()]).unwrap_or_default()
    }
}

impl fmt::Debug for PathFilter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathFilter")
            .field("version", &self.version())
            .field("params", &self.params())
            .field("wildcards", &self.wildcards())
            .finish_non_exhaustive()
    }
}

/// The first line, and where the characters of the second one lie.
fn read(cursor: &mut Cursor<'_>, is_checked: bool) -> Option<(Header, Range<usize>)> {
    let header = header::read(cursor)?;
    let body = second_line(cursor, header.m)?;
    if is_checked && let Some(place) = first_illegal(&cursor.bytes[body.clone()]) {
        return cursor.fail_at(body.start + place, "a character of Base64");
    }
    Some((header, body))
}

const OR_MORE: &str = "characters of Base64 in line 2, or more";
const OR_FEWER: &str = "characters of Base64 in line 2, or fewer";

/// Where the characters of the second line lie, without quotes and padding.
fn second_line(cursor: &mut Cursor<'_>, m: u32) -> Option<Range<usize>> {
    if cursor.byte() != Some(b'"') {
        return cursor.fail("the quote that opens line 2");
    }
    cursor.at += 1;
    let start = cursor.at;
    let m = u64::from(m);
    let (needed, most) = (m.div_ceil(6), m.div_ceil(24) * 4);
    let rest = &cursor.bytes[start..];
    let last = match rest.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => rest,
    };
    let Some(padded) = last.strip_suffix(b"\"") else {
        return not_closed(cursor, needed);
    };
    let characters = padded.strip_suffix(b"=").unwrap_or(padded);
    let characters = characters.strip_suffix(b"=").unwrap_or(characters);
    if (characters.len() as u64) < needed {
        return cursor.fail_count(characters.len(), needed, OR_MORE);
    }
    if padded.len() as u64 > most {
        return cursor.fail_count(padded.len(), most, OR_FEWER);
    }
    Some(start..start + characters.len())
}

/// Notes why the second line does not end where the file does.
fn not_closed<T>(cursor: &mut Cursor<'_>, needed: u64) -> Option<T> {
    let rest = &cursor.bytes[cursor.at..];
    if let Some(quote) = rest.iter().position(|&byte| byte == b'"') {
        return cursor.fail_at(cursor.at + quote + 1, "the end of the file");
    }
    if (rest.len() as u64) < needed {
        return cursor.fail_count(rest.len(), needed, OR_MORE);
    }
    cursor.fail_at(cursor.bytes.len(), "the quote that closes line 2")
}
