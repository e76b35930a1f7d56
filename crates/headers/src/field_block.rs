//! In-place stripping of the field lines of an HTTP/1.1 message.

use alloc::vec::Vec;
use core::{fmt, ops::Range};

use crate::{
    Fault, HeaderSet, Spelling,
    bytes::compare,
    connection::{self, Nomination, nomination},
    control::find_control,
    token::is_token,
};

/// The maximum number of fields that the `Connection` lines of a block may nominate, not counting
/// those that a rule matches.
pub const MAX_NOMINATED: usize = 1024;

const TOO_MANY_NOMINATED: &str = "expected at most 1024 nominated fields, found more";
const FORBIDDEN: &str = "expected a field that may be nominated, found another";
const TWO_FRAMINGS: &str = "expected one field that frames the body, found more";
const BARE_CR: &str = "expected LF after CR, found another byte";
const BARE_LF: &str = "expected CR before LF, found LF alone";
const NUL: &str = "expected no NUL, found one";

impl HeaderSet<'_> {
    /// Removes every field line that the set [strips](HeaderSet::strips) and compacts the rest to the beginning
    /// of `block`. Returns the length of the rest.
    ///
    /// A block is the part of an HTTP/1.1 message between the start line and the body: field lines
    /// that end in CR LF, with or without the empty line that closes them. A line that begins with
    /// white space continues the line before it (`obs-fold`) and is kept or removed with it. The
    /// remaining lines keep their order and their duplicates.
    ///
    /// A set that strips `Connection` also strips the fields that the block's `Connection` lines
    /// nominate (RFC 9110 §7.6.1), subject to [`nomination`].
    ///
    /// With [`Mode::Strip`](crate::Mode::Strip), a rule that matches `Content-Length` or
    /// `Transfer-Encoding` removes the framing of the body. Use such a rule only if you reframe the
    /// body.
    ///
    /// # Errors
    ///
    /// Returns a [`FieldBlockError`] and leaves the block unchanged if a line is not allowed by
    /// RFC 9112 §5 or is one that parsers are known to read differently, if the length of the body
    /// is ambiguous (RFC 9112 §6.3), or if `Connection` nominates a field that is meant for all
    /// recipients. Nothing is moved before the whole block has been read.
    ///
    /// # Complexity
    ///
    /// One pass over the block, and a second one if `Connection` nominates fields that no rule
    /// matches (at most [`MAX_NOMINATED`]). Allocates a list of the runs of removed lines and a list
    /// of these fields.
    ///
    /// # Example
    ///
    /// ```
    /// use hedgerow_headers::HeaderSetBuilder;
    ///
    /// let set = HeaderSetBuilder::new().rule("x-internal-*")?.build();
    /// let mut block = *b"Host: a.example\r\nX-Internal-User: 7\r\nAccept: */*\r\n\r\n";
    /// let length = set.strip_block(&mut block)?;
    /// assert_eq!(&block[..length], b"Host: a.example\r\nAccept: */*\r\n\r\n");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn strip_block(&self, block: &mut [u8]) -> Result<usize, FieldBlockError> {
        let mut nominated = Vec::new();
        let mut removed = self.removed_lines(block, &mut nominated)?;
        if !nominated.is_empty() {
            removed = self.removed_lines(block, &mut nominated)?;
        }
        Ok(compact(block, &removed))
    }

    /// Returns the runs of lines whose fields the set strips or which are in `nominated`. Adds to
    /// `nominated` the fields that `Connection` lines nominate and the set does not strip.
    fn removed_lines<'b>(
        &self,
        block: &'b [u8],
        nominated: &mut Vec<&'b [u8]>,
    ) -> Result<Vec<Range<usize>>, FieldBlockError> {
        let mut removed: Vec<Range<usize>> = Vec::new();
        let mut framings = 0;
        let mut start = 0;
        while start < block.len() {
            if block[start..] == *b"\r\n" {
                break;
            }
            let colon = name_end(block, start)?;
            let end = field_end(block, colon + 1)?;
            let name = &block[start..colon];
            // Few other names of these lengths begin with these letters.
            if matches!((name.len(), name[0] | 0x20), (14, b'c') | (17, b't')) {
                let framing = framing(name);
                if framing != 0 && framings != 0 && (framings | framing) & LENGTH != 0 {
                    return Err(FieldBlockError::at(start, TWO_FRAMINGS));
                }
                framings |= framing;
            }
            let strips = self.strips(name);
            if strips
                && self.strips_connection()
                && compare(name, b"connection", Spelling::Exact).is_eq()
            {
                for option in connection::options(&block[colon + 1..end - 2]) {
                    if !self.strips(option) && !nominate(nominated, option) {
                        return Err(FieldBlockError::at(start, TOO_MANY_NOMINATED));
                    }
                }
            }
            let is_removed = strips
                || search(nominated, name).is_ok()
                    && match nomination(name, &block[colon + 1..end - 2]) {
                        Nomination::Removes => true,
                        Nomination::Keeps => false,
                        Nomination::Forbidden => return Err(FieldBlockError::at(start, FORBIDDEN)),
                    };
            if is_removed {
                match removed.last_mut() {
                    Some(run) if run.end == start => run.end = end,
                    _ => removed.push(start..end),
                }
            }
            start = end;
        }
        Ok(removed)
    }
}

const LENGTH: u8 = 1;
const ENCODING: u8 = 2;

/// Returns how a field frames the body, or 0 if it does not.
fn framing(name: &[u8]) -> u8 {
    let is = |other: &[u8]| compare(name, other, Spelling::Exact).is_eq();
    if is(b"content-length") {
        LENGTH
    } else if is(b"transfer-encoding") {
        ENCODING
    } else {
        0
    }
}

/// Inserts `option` into the sorted list of nominated fields. Returns `false` if it is full.
fn nominate<'b>(nominated: &mut Vec<&'b [u8]>, option: &'b [u8]) -> bool {
    let Err(position) = search(nominated, option) else {
        return true;
    };
    if nominated.len() == MAX_NOMINATED {
        return false;
    }
    nominated.insert(position, option);
    true
}

/// Searches the sorted list of nominated fields for `name`.
fn search(nominated: &[&[u8]], name: &[u8]) -> Result<usize, usize> {
    nominated.binary_search_by(|other| compare(other, name, Spelling::Exact))
}

/// Returns the offset of the colon after the name of the field that begins at `start`.
fn name_end(block: &[u8], start: usize) -> Result<usize, FieldBlockError> {
    let end = block[start..].iter().position(|&byte| !is_token(byte));
    let at = end.map_or(block.len(), |length| start + length);
    let is_line_end = block.get(at + 1) == Some(&b'\n');
    let message = match block.get(at) {
        Some(b':') if at > start => return Ok(at),
        Some(b':') => "expected a field name, found a colon",
        Some(b' ' | b'\t') if at == start => {
            "expected a field name, found white space with no field to continue"
        }
        Some(b' ' | b'\t') => "expected a colon after the field name, found white space",
        Some(b'\r') if is_line_end && at == start => {
            "expected the empty line last, found more after it"
        }
        Some(b'\r') if is_line_end => "expected a colon after the field name, found the line's end",
        Some(b'\r') if at + 1 < block.len() => BARE_CR,
        Some(b'\n') => BARE_LF,
        Some(0) => NUL,
        Some(b'\r') | None => return Err(FieldBlockError::unfinished(block)),
        Some(&byte) => {
            let message = "expected a token character or a colon, found byte";
            return Err(FieldBlockError { message, byte: Some(byte), offset: at });
        }
    };
    Err(FieldBlockError::at(at, message))
}

/// Returns the end of the field whose value begins at `start`, after the CR LF of its last line.
fn field_end(block: &[u8], start: usize) -> Result<usize, FieldBlockError> {
    let mut from = start;
    loop {
        let Some(length) = find_control(&block[from..]) else {
            return Err(FieldBlockError::unfinished(block));
        };
        let at = from + length;
        match (block[at], block.get(at + 1)) {
            (b'\r', Some(b'\n')) => {}
            (b'\r', None) => return Err(FieldBlockError::unfinished(block)),
            (b'\r', Some(_)) => return Err(FieldBlockError::at(at, BARE_CR)),
            (b'\n', _) => return Err(FieldBlockError::at(at, BARE_LF)),
            _ => return Err(FieldBlockError::at(at, NUL)),
        }
        from = at + 2;
        if !matches!(block.get(from), Some(b' ' | b'\t')) {
            return Ok(from);
        }
    }
}

/// Compacts the bytes outside the removed runs, and returns their length.
fn compact(block: &mut [u8], removed: &[Range<usize>]) -> usize {
    let (mut length, mut from) = (0, 0);
    let end = block.len()..block.len();
    for run in removed.iter().chain([&end]) {
        if from != length {
            block.copy_within(from..run.start, length);
        }
        length += run.start - from;
        from = run.end;
    }
    length
}

/// The error of [`HeaderSet::strip_block`], which leaves the block unchanged.
///
/// A block is rejected if it has:
///
/// - a CR or an LF that is not part of a CR LF, or a NUL;
/// - a line without a colon or without a name;
/// - white space, or another byte that is not a `token` character, in a name;
/// - a first line that begins with white space;
/// - an empty line before the end, or a last line without CR LF;
/// - more than [`MAX_NOMINATED`] nominated fields (the offset is that of the line that exceeds it);
/// - a nominated field whose nomination is [forbidden](Nomination::Forbidden);
/// - a second field that frames the body, if either is `Content-Length`.
///
/// [`Display`](fmt::Display) writes what was expected, what was found and where.
///
/// # Example
///
/// ```
/// use hedgerow_headers::HeaderSetBuilder;
///
/// let set = HeaderSetBuilder::new().rule("x-internal-*")?.build();
/// let mut block = *b"Host: a.example\r\nX-Internal-User\n: 7\r\n";
/// let error = set.strip_block(&mut block).unwrap_err();
/// assert_eq!(error.offset(), 32);
/// assert_eq!(
///     error.to_string(),
///     "expected CR before LF, found LF alone at byte 32",
/// );
/// # Ok::<(), hedgerow_headers::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldBlockError {
    message: &'static str,
    byte: Option<u8>,
    offset: usize,
}

impl FieldBlockError {
    fn at(offset: usize, message: &'static str) -> Self {
        Self { message, byte: None, offset }
    }

    /// Creates the error for a block that ends inside a line.
    fn unfinished(block: &[u8]) -> Self {
        Self::at(block.len(), "expected CR LF at the end, found none")
    }

    /// Returns the offset of the fault in the block, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the parts of the message.
    #[must_use]
    pub fn fault(&self) -> Fault {
        Fault { message: self.message, byte: self.byte, offset: Some(self.offset) }
    }
}

impl fmt::Display for FieldBlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault().fmt(f)
    }
}

impl core::error::Error for FieldBlockError {}
