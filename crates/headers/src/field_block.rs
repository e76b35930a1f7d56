//! Stripping the field lines of an HTTP/1.1 message where they lie.

use alloc::vec::Vec;
use core::{fmt, ops::Range};

use crate::{
    HeaderSet,
    builder::{RuleTexts, exact_key},
    connection,
    control::find_control,
    token::is_token,
};

impl HeaderSet<'_> {
    /// Removes every field line whose name a rule matches, moves the rest together, and returns the
    /// length of what is left at the beginning of `block`.
    ///
    /// A block is what stands between the start line and the body of an HTTP/1.1 message: field
    /// lines that end in CR LF, with or without the empty line that closes them. A line that begins
    /// with white space continues the one before it (`obs-fold`) and stays or goes with it. Order
    /// and duplicates of what stays are kept. A set that strips `Connection` also strips the fields
    /// that the block's `Connection` lines nominate (RFC 9110 §7.6.1).
    ///
    /// # Errors
    ///
    /// A line that RFC 9112 §5 does not allow, or that parsers are known to disagree about; see
    /// [`FieldBlockError`]. The block is then as it was: nothing moves until all of it was read.
    ///
    /// # Complexity
    ///
    /// One pass over the block. If its `Connection` nominates fields that no rule matches, these
    /// options are put in order and a second pass looks every name up among them: O(*n* log *n*) at
    /// worst for a block of *n* bytes. Allocates to note runs of removed lines, and in that pass.
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
        let mut nominated = RuleTexts::new();
        let mut removed = removed_lines(block, |name, value| {
            let matches = self.matches(name);
            if self.strips_connection() && name.eq_ignore_ascii_case(b"connection") {
                let others = connection::options(value).filter(|option| !self.matches(option));
                nominated.extend(others.map(exact_key));
            }
            matches
        })?;
        if !nominated.is_empty() {
            removed = removed_lines(block, |name, _| {
                self.matches(name) || nominated.contains(&exact_key(name))
            })?;
        }
        Ok(compact(block, &removed))
    }
}

/// The runs of lines of the fields that `goes` picks by their name and value.
fn removed_lines<'b>(
    block: &'b [u8],
    mut goes: impl FnMut(&'b [u8], &'b [u8]) -> bool,
) -> Result<Vec<Range<usize>>, FieldBlockError> {
    let mut removed: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while start < block.len() {
        if block[start..] == *b"\r\n" {
            break;
        }
        let colon = name_end(block, start)?;
        let end = field_end(block, colon + 1)?;
        if goes(&block[start..colon], &block[colon + 1..end - 2]) {
            match removed.last_mut() {
                Some(run) if run.end == start => run.end = end,
                _ => removed.push(start..end),
            }
        }
        start = end;
    }
    Ok(removed)
}

/// The colon that ends the name of the field that begins at `start`.
fn name_end(block: &[u8], start: usize) -> Result<usize, FieldBlockError> {
    let end = block[start..].iter().position(|&byte| !is_token(byte));
    let at = end.map_or(block.len(), |length| start + length);
    let kind = match block.get(at) {
        Some(b':') if at > start => return Ok(at),
        Some(b':') => Kind::EmptyName,
        Some(b' ' | b'\t') if at == start => Kind::LeadingSpace,
        Some(b' ' | b'\t') => Kind::SpaceInName,
        Some(b'\r') if block.get(at + 1) == Some(&b'\n') && at == start => Kind::EmptyLine,
        Some(b'\r') if block.get(at + 1) == Some(&b'\n') => Kind::NoColon,
        Some(b'\r') if at + 1 == block.len() => return Err(FieldBlockError::unfinished(block)),
        Some(b'\r') => Kind::BareCr,
        Some(b'\n') => Kind::BareLf,
        Some(0) => Kind::Nul,
        Some(&byte) => Kind::NotToken(byte),
        None => return Err(FieldBlockError::unfinished(block)),
    };
    Err(FieldBlockError { kind, offset: at })
}

/// The end of the field whose value begins at `start`, behind the CR LF of its last line.
fn field_end(block: &[u8], start: usize) -> Result<usize, FieldBlockError> {
    let mut from = start;
    loop {
        let Some(length) = find_control(&block[from..]) else {
            return Err(FieldBlockError::unfinished(block));
        };
        let at = from + length;
        let error = |kind| Err(FieldBlockError { kind, offset: at });
        match (block[at], block.get(at + 1)) {
            (b'\r', Some(b'\n')) => {}
            (b'\r', None) => return Err(FieldBlockError::unfinished(block)),
            (b'\r', Some(_)) => return error(Kind::BareCr),
            (b'\n', _) => return error(Kind::BareLf),
            _ => return error(Kind::Nul),
        }
        from = at + 2;
        if !matches!(block.get(from), Some(b' ' | b'\t')) {
            return Ok(from);
        }
    }
}

/// Moves what lies outside the removed runs together, and returns its length.
fn compact(block: &mut [u8], removed: &[Range<usize>]) -> usize {
    let Some(first) = removed.first() else {
        return block.len();
    };
    let mut length = first.start;
    let next_starts = removed[1..].iter().map(|run| run.start).chain([block.len()]);
    for (kept_from, kept_to) in removed.iter().map(|run| run.end).zip(next_starts) {
        block.copy_within(kept_from..kept_to, length);
        length += kept_to - kept_from;
    }
    length
}

/// A field block that [`HeaderSet::strip_block`] refused. The block is as it was.
///
/// [`Display`](fmt::Display) says what was expected, what was found and where. Refused are a CR or an
/// LF that is not part of a CR LF, a NUL, a line without a colon or without a name, white space
/// or another byte that is no `token` character in a name, a first line that continues nothing, an
/// empty line before the end, and a last line without CR LF.
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
    kind: Kind,
    offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    BareCr,
    BareLf,
    Nul,
    NoColon,
    EmptyName,
    EmptyLine,
    LeadingSpace,
    SpaceInName,
    NotToken(u8),
    NoFinalCrLf,
}

impl FieldBlockError {
    /// A block that stops before its last line does.
    fn unfinished(block: &[u8]) -> Self {
        Self { kind: Kind::NoFinalCrLf, offset: block.len() }
    }

    /// Where the block is wrong, counted in bytes from its beginning.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for FieldBlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::BareCr => f.write_str("expected LF after CR, found another byte"),
            Kind::BareLf => f.write_str("expected CR before LF, found LF alone"),
            Kind::Nul => f.write_str("expected no NUL, found one"),
            Kind::NoColon => {
                f.write_str("expected a colon after the field name, found the line's end")
            }
            Kind::EmptyName => f.write_str("expected a field name, found a colon"),
            Kind::EmptyLine => f.write_str("expected the empty line last, found more after it"),
            Kind::LeadingSpace => {
                f.write_str("expected a field name, found white space with no field to continue")
            }
            Kind::SpaceInName => {
                f.write_str("expected a colon after the field name, found white space")
            }
            Kind::NotToken(byte) => write!(
                f,
                "expected a token character (RFC 9110 section 5.6.2) or a colon, found byte {byte:#04x}"
            ),
            Kind::NoFinalCrLf => f.write_str("expected CR LF at the end, found none"),
        }?;
        write!(f, " at byte {}", self.offset)
    }
}

impl core::error::Error for FieldBlockError {}
