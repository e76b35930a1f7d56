//! The error of parsing a filter file, in parts for hosts that format it themselves.

use core::fmt;

/// The error of [`PathFilter::parse`](crate::PathFilter::parse): what was expected, what was found,
/// and where.
///
/// [`Display`](fmt::Display) formats the parts as one line.
///
/// # Example
///
/// ```
/// use hedgerow_paths::{Found, PathFilter};
///
/// let error = PathFilter::parse(b"[]\n\"\"").unwrap_err();
/// assert_eq!(error.to_string(), "expected { and a member, found 0x5b at byte 0");
/// assert_eq!((error.found, error.offset), (Found::Byte(b'['), 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatError {
    /// The expected number of [`expected`](Self::expected), if it is a count.
    pub count: Option<u64>,
    /// What was expected.
    pub expected: &'static str,
    /// What was found.
    pub found: Found,
    /// Offset in the file, in bytes.
    pub offset: usize,
}

/// The unexpected item that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A byte.
    Byte(u8),
    /// A number, or a count.
    Number(u64),
    /// The end of the line or of the file.
    End,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected ")?;
        if let Some(count) = self.count {
            write!(f, "{count} ")?;
        }
        write!(f, "{}, found ", self.expected)?;
        match self.found {
            Found::Byte(byte) => write!(f, "{byte:#04x}")?,
            Found::Number(number) => write!(f, "{number}")?,
            Found::End => f.write_str("the end")?,
        }
        write!(f, " at byte {}", self.offset)
    }
}

impl core::error::Error for FormatError {}
