//! Netstrings, in which hosts pass many keys at once: a length in decimal, a colon, the key, a comma.

use core::fmt;

/// The error of [`KeyCollector::insert_netstrings`](crate::KeyCollector::insert_netstrings).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetstringError {
    /// Offset in the buffer at which no netstring begins.
    pub offset: usize,
}

impl fmt::Display for NetstringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a netstring at byte {}", self.offset)
    }
}

impl core::error::Error for NetstringError {}

/// The keys of a buffer, up to the first error.
pub(crate) struct Netstrings<'a> {
    buffer: &'a [u8],
    at: usize,
}

impl<'a> Netstrings<'a> {
    pub(crate) fn new(buffer: &'a [u8]) -> Self {
        Self { buffer, at: 0 }
    }

    fn read(&mut self) -> Option<&'a [u8]> {
        let rest = self.buffer.get(self.at..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (length, rest) = rest.split_at(digits);
        if length.is_empty() || (length[0] == b'0' && digits > 1) {
            return None;
        }
        let length = length.iter().try_fold(0_usize, |length, digit| {
            length.checked_mul(10)?.checked_add(usize::from(digit - b'0'))
        })?;
        let rest = rest.strip_prefix(b":")?;
        let key = rest.get(..length)?;
        rest[length..].strip_prefix(b",")?;
        self.at += digits + length + ":,".len();
        Some(key)
    }
}

impl<'a> Iterator for Netstrings<'a> {
    type Item = Result<&'a [u8], NetstringError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.buffer.len() {
            return None;
        }
        let offset = self.at;
        let key = self.read();
        if key.is_none() {
            self.at = self.buffer.len();
        }
        Some(key.ok_or(NetstringError { offset }))
    }
}
