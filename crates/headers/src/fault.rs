//! The parts of an error message, for hosts that format it themselves.

use core::fmt;

/// The parts of an error message: what was expected, what was found, and where.
///
/// [`Display`](fmt::Display) formats them as one line.
///
/// # Example
///
/// ```
/// use hedgerow_headers::HeaderSetBuilder;
///
/// let error = HeaderSetBuilder::new().rule("x debug").unwrap_err();
/// let fault = error.fault();
/// assert_eq!((fault.byte, fault.offset), (Some(b' '), Some(1)));
/// assert_eq!(fault.to_string(), format!("{} 0x20 at byte 1", fault.message));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The message: expected …, found ….
    pub message: &'static str,
    /// The byte that was found, if [`Display`](fmt::Display) appends it to the message.
    pub byte: Option<u8>,
    /// The byte offset in the input, or `None` if the fault concerns the input as a whole.
    pub offset: Option<usize>,
}

impl Fault {
    /// Creates a fault of the input as a whole.
    pub(crate) const fn new(message: &'static str) -> Self {
        Self { message, byte: None, offset: None }
    }

    /// Creates a fault at an offset.
    pub(crate) const fn at(offset: usize, message: &'static str) -> Self {
        Self { message, byte: None, offset: Some(offset) }
    }

    /// Creates a fault at an offset, caused by `byte`. [`Display`](fmt::Display) appends the
    /// byte to the message.
    pub(crate) const fn byte_at(offset: usize, byte: u8, message: &'static str) -> Self {
        Self { message, byte: Some(byte), offset: Some(offset) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)?;
        if let Some(byte) = self.byte {
            write!(f, " {byte:#04x}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        Ok(())
    }
}
