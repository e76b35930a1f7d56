//! Stripping the field lines of an HTTP/1.1 message where they lie.

use alloc::vec::Vec;
use core::{fmt, ops::Range};

use crate::{
    Fault, HeaderSet,
    bytes::compare_ignoring_case,
    connection::{self, Nomination, nomination},
    control::find_control,
    token::is_token,
};

/// How many fields the `Connection` lines of a block may nominate beside those that a rule matches.
pub const MAX_NOMINATED: usize = 1024;

const TOO_MANY_NOMINATED: &str = "expected at most 1024 nominated fields, found more";
const FORBIDDEN: &str = "expected a field that may be nominated, found another";
const TWO_FRAMINGS: &str = "expected one field that frames the body, found more";
const BARE_CR: &str = "expected LF after CR, found another byte";
const BARE_LF: &str = "expected CR before LF, found LF alone";
const NUL: &str = "expected no NUL, found one";

impl HeaderSet<'_> {
    /// Removes every field line whose name a rule matches, moves the rest together, and returns the
    /// length of what is left at the beginning of `block`.
    ///
    /// A block is what stands between the start line and the body of an HTTP/1.1 message: field
    /// lines that end in CR LF, with or without the empty line that closes them. A line that begins
    /// with white space continues the one before it (`obs-fold`) and stays or goes with it. Order
    /// and duplicates of what stays are kept. A set that strips `Connection` also strips the fields
    /// that the block's `Connection` lines nominate (RFC 9110 §7.6.1), as [`nomination`] says.
    ///
    /// A rule that matches `Content-Length` or `Transfer-Encoding` removes what frames the body: only a
    /// caller that frames the body anew may have one.
    ///
    /// # Errors
    ///
    /// A line that RFC 9112 §5 does not allow, or that parsers are known to disagree about; a body
    /// whose length is ambiguous (RFC 9112 §6.3); a `Connection` that nominates a field for all
    /// recipients. See [`FieldBlockError`]. The block is then as it was: nothing moves until all of it
    /// was read.
    ///
    /// # Complexity
    ///
    /// One pass over the block; a second one if its `Connection` nominates fields that no rule
    /// matches, which are at most [`MAX_NOMINATED`]. Allocates to note runs of removed lines, and
    /// these fields.
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

    /// The runs of lines of the fields that a rule matches, or that are among `nominated`. The
    /// fields that `Connection` lines nominate and no rule matches come to be among these.
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
            // Other names of these lengths rarely begin so.
            if matches!((name.len(), name[0] | 0x20), (14, b'c') | (17, b't')) {
                let framing = framing(name);
                if framing != 0 && framings != 0 && (framings | framing) & LENGTH != 0 {
                    return Err(FieldBlockError::at(start, TWO_FRAMINGS));
                }
                framings |= framing;
            }
            let matches = self.matches(name);
            if matches
                && self.strips_connection()
                && compare_ignoring_case(name, b"connection").is_eq()
            {
                for option in connection::options(&block[colon + 1..end - 2]) {
                    if !self.matches(option) && !nominate(nominated, option) {
                        return Err(FieldBlockError::at(start, TOO_MANY_NOMINATED));
                    }
                }
            }
            let is_removed = matches
                || place_of(nominated, name).is_ok()
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

/// What a field says of where the body ends, and 0 for all others.
const LENGTH: u8 = 1;
const ENCODING: u8 = 2;

fn framing(name: &[u8]) -> u8 {
    let is = |other: &[u8]| compare_ignoring_case(name, other).is_eq();
    if is(b"content-length") {
        LENGTH
    } else if is(b"transfer-encoding") {
        ENCODING
    } else {
        0
    }
}

/// Puts `option` among the nominated fields, which are in order; `false` if there are too many.
fn nominate<'b>(nominated: &mut Vec<&'b [u8]>, option: &'b [u8]) -> bool {
    let Err(place) = place_of(nominated, option) else {
        return true;
    };
    if nominated.len() == MAX_NOMINATED {
        return false;
    }
    nominated.insert(place, option);
    true
}

/// Where `name` is among nominated fields, or would be.
fn place_of(nominated: &[&[u8]], name: &[u8]) -> Result<usize, usize> {
    nominated.binary_search_by(|other| compare_ignoring_case(other, name))
}

/// The colon that ends the name of the field that begins at `start`.
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

/// The end of the field whose value begins at `start`, behind the CR LF of its last line.
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

/// Moves what lies outside the removed runs together, and returns its length.
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

/// A field block that [`HeaderSet::strip_block`] refused. The block is as it was.
///
/// [`Display`](fmt::Display) says what was expected, what was found and where. Refused are a CR or an
/// LF that is not part of a CR LF, a NUL, a line without a colon or without a name, white space
/// or another byte that is no `token` character in a name, a first line that continues nothing, an
/// empty line before the end, a last line without CR LF, more than [`MAX_NOMINATED`] nominated
/// fields, at the line that nominates one too many, a nominated field whose nomination is
/// [forbidden](Nomination::Forbidden), and a second field that frames the body in another way.
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

    /// A block that stops before its last line does.
    fn unfinished(block: &[u8]) -> Self {
        Self::at(block.len(), "expected CR LF at the end, found none")
    }

    /// Where the block is wrong, counted in bytes from its beginning.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The parts of the message.
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
