//! What is wrong with an input, in parts that a host can put together for itself.

use core::fmt;

/// What was expected and what was found.
///
/// [`Display`](fmt::Display) puts the parts together.
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
    /// What was expected and what was found.
    pub message: &'static str,
    /// The byte that was found, where the message leaves it open.
    pub byte: Option<u8>,
    /// Where it was found, in bytes from the beginning of the input; not for faults of the whole.
    pub offset: Option<usize>,
}

impl Fault {
    /// A fault of the whole input.
    pub(crate) const fn new(message: &'static str) -> Self {
        Self { message, byte: None, offset: None }
    }

    /// A fault at a place.
    pub(crate) const fn at(offset: usize, message: &'static str) -> Self {
        Self { message, byte: None, offset: Some(offset) }
    }

    /// A fault that is a byte at a place; the message ends before it.
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
