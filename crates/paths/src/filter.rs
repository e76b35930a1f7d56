//! The reader of filter files.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::{fmt, ops::Range};

use crate::{
    alphabet::{bits_of, first_illegal},
    cursor::Cursor,
    format_error::FormatError,
    hash::KeyHash,
    header::{self, Header, Numbers},
    kind::Kind,
    query::Query,
    sizing, version,
};

/// The parameters of a filter, from the first line of its file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// How the keys are stored.
    pub kind: Kind,
    /// Number of keys.
    pub n: u64,
    /// Requested false-positive rate; 2^-24 for a fuse filter.
    pub p: f64,
    /// Number of bits, or of slots of a fuse filter.
    pub m: u32,
    /// Number of bits per key, or of slots per key of a fuse filter, which is 3.
    pub k: u32,
    /// Seed of the hashes.
    pub s: u64,
}

/// A set of paths with false positives but no false negatives: if it says that a path is absent, the
/// path is absent. The rate of false positives is chosen when the filter is built. Reads filters of
/// every [`Kind`].
///
/// The file is read in place. Parsing reads the first line and, unless the file is trusted, scans
/// the second line for bytes that are not Base64. Nothing is decoded, copied or allocated.
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
    query: Query,
    body: Range<usize>,
}

impl<'a> PathFilter<'a> {
    /// Parses a filter file.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if `docs/path-filter.md` in the repository requires a reader to
    /// reject the file.
    ///
    /// # Complexity
    ///
    /// One pass over the file, at about 16 bytes per nanosecond.
    pub fn parse(file: &'a [u8]) -> Result<Self, FormatError> {
        Self::new(Cow::Borrowed(file), true).map_err(|(error, _)| error)
    }

    /// Parses a filter file without the pass over the second line.
    ///
    /// A byte of the second line that is not Base64 then counts as zero bits, so paths of the set
    /// may be reported as absent and, in a fuse filter, others as present. There are no other
    /// consequences.
    ///
    /// # Errors
    ///
    /// The same as [`parse`](Self::parse), except for bytes of the second line that are not Base64.
    ///
    /// # Complexity
    ///
    /// Linear in the length of the first line; constant in that of the second.
    pub fn parse_trusted(file: &'a [u8]) -> Result<Self, FormatError> {
        Self::new(Cow::Borrowed(file), false).map_err(|(error, _)| error)
    }

    /// Parses a filter file and keeps it. If `is_trusted`, the same as
    /// [`parse_trusted`](Self::parse_trusted), else as [`parse`](Self::parse).
    ///
    /// # Errors
    ///
    /// The same as [`parse`](Self::parse), and returns the file.
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
            Some((header, query, body)) => Ok(Self { file, header, query, body }),
            None => Err((cursor.error(), file)),
        }
    }

    /// Returns whether `path` may be in the set. `false` is certain.
    ///
    /// Paths are compared as bytes, so normalise them as the builder did.
    ///
    /// # Complexity
    ///
    /// That of [`Query::has`].
    #[inline]
    pub fn has(&self, path: &[u8]) -> bool {
        self.query.has(self.body(), path)
    }

    /// Returns whether a path with this hash may be in the set. The path must have been hashed under
    /// this filter's [`seed`](Self::seed).
    #[inline]
    pub fn has_hash(&self, hash: KeyHash) -> bool {
        self.query.has_hash(self.body(), hash)
    }

    /// Returns the parameters in the file.
    pub fn params(&self) -> Params {
        match self.header.numbers {
            Numbers::Bloom { n, m, k, s, ref p } => {
                let p = self.text(p).parse().unwrap_or_default();
                Params { kind: Kind::Bloom, n, p, m, k, s }
            }
            Numbers::Fuse { n, m, s, .. } => {
                Params { kind: Kind::Fuse, n, p: FUSE_RATE, m, k: 3, s }
            }
        }
    }

    /// Returns the version in the file, without JSON escapes.
    pub fn version(&self) -> String {
        version::unescape(self.text(&self.header.version))
    }

    /// Returns the depth of the deepest key that ends in `/*`, as the number of its slashes, or 0 if
    /// the file has no such key. [`MAX_WILDCARD_DEPTH`](crate::MAX_WILDCARD_DEPTH) stands for that
    /// depth and any greater one.
    pub fn wildcards(&self) -> u32 {
        self.header.wildcards
    }

    /// Returns the seed of the hashes.
    pub fn seed(&self) -> u64 {
        self.query.seed()
    }

    /// Returns the first line: JSON in UTF-8, possibly with a carriage return at its end.
    pub fn header(&self) -> &[u8] {
        &self.file[..self.body.start - "\n\"".len()]
    }

    /// Returns the bytes of the file.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// Counts the bits that are set.
    ///
    /// # Complexity
    ///
    /// One pass over the file.
    pub fn bits_set(&self) -> u64 {
        let bits = match self.header.numbers {
            Numbers::Bloom { m, .. } => u64::from(m),
            Numbers::Fuse { m, .. } => 24 * u64::from(m),
        };
        let (whole, rest) = (bits / 6, bits % 6);
        let (body, after) = self.body().split_at(whole as usize);
        let last = after.first().map_or(0, |&character| bits_of(character) >> (6 - rest));
        body.iter()
            .map(|&character| bits_of(character))
            .chain([last])
            .fold(0, |sum, bits| sum + u64::from(bits.count_ones()))
    }

    /// Returns the false-positive rate that a model predicts from the number of bits that are set. That
    /// of a fuse filter is 2^-24 whatever its keys.
    ///
    /// # Complexity
    ///
    /// One pass over the file.
    pub fn false_positive_rate(&self) -> f64 {
        match self.header.numbers {
            Numbers::Bloom { n, m, k, .. } => {
                sizing::expected_rate(self.bits_set() as f64 / f64::from(m), n, m, k)
            }
            Numbers::Fuse { .. } => FUSE_RATE,
        }
    }

    /// Returns the members of the first line.
    pub(crate) fn parsed_header(&self) -> &Header {
        &self.header
    }

    /// Returns the characters of the second line, without quotes and padding.
    #[inline]
    pub(crate) fn body(&self) -> &[u8] {
        &self.file[self.body.clone()]
    }

    /// Returns a part of the first line, which is UTF-8.
    pub(crate) fn text(&self, range: &Range<usize>) -> &str {
        core::str::from_utf8(&self.file[range.clone()]).unwrap_or_default()
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

/// The false-positive rate of fuse filters: 24 random bits agree.
const FUSE_RATE: f64 = 1.0 / (1 << 24) as f64;

/// Reads the first line, and returns it with the query and the range of the characters of the second
/// line.
fn read(cursor: &mut Cursor<'_>, is_checked: bool) -> Option<(Header, Query, Range<usize>)> {
    let header = header::read(cursor)?;
    let (query, body) = match header.numbers {
        Numbers::Bloom { m, k, s, .. } => {
            let bits = u64::from(m);
            let body = second_line(cursor, bits.div_ceil(6), bits.div_ceil(24) * 4)?;
            (Query::bloom(m, k, s), body)
        }
        Numbers::Fuse { m, l, q, s, .. } => {
            let characters = 4 * u64::from(m);
            (Query::fuse(m, l, q, s), second_line(cursor, characters, characters)?)
        }
    };
    if is_checked && let Some(position) = first_illegal(&cursor.bytes[body.clone()]) {
        return cursor.fail_at(body.start + position, "a character of Base64");
    }
    Some((header, query?, body))
}

const OR_MORE: &str = "characters of Base64 in line 2, or more";
const OR_FEWER: &str = "characters of Base64 in line 2, or fewer";

/// Returns the range of the characters of the second line, without quotes and padding. There are at
/// least `min` characters, and at most `max` with the padding.
fn second_line(cursor: &mut Cursor<'_>, min: u64, max: u64) -> Option<Range<usize>> {
    if cursor.byte() != Some(b'"') {
        return cursor.fail("the quote that opens line 2");
    }
    cursor.at += 1;
    let start = cursor.at;
    let rest = &cursor.bytes[start..];
    let last = match rest.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => rest,
    };
    let Some(padded) = last.strip_suffix(b"\"") else {
        return not_closed(cursor, min);
    };
    let characters = padded.strip_suffix(b"=").unwrap_or(padded);
    let characters = characters.strip_suffix(b"=").unwrap_or(characters);
    if (characters.len() as u64) < min {
        return cursor.fail_count(characters.len(), min, OR_MORE);
    }
    if padded.len() as u64 > max {
        return cursor.fail_count(padded.len(), max, OR_FEWER);
    }
    Some(start..start + characters.len())
}

/// Records why the file does not end with the quote that closes the second line.
fn not_closed<T>(cursor: &mut Cursor<'_>, min: u64) -> Option<T> {
    let rest = &cursor.bytes[cursor.at..];
    if let Some(quote) = rest.iter().position(|&byte| byte == b'"') {
        return cursor.fail_at(cursor.at + quote + 1, "the end of the file");
    }
    if (rest.len() as u64) < min {
        return cursor.fail_count(rest.len(), min, OR_MORE);
    }
    cursor.fail_at(cursor.bytes.len(), "the quote that closes line 2")
}
