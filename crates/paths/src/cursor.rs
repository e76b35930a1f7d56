//! A position in a file, and the reason why the file is invalid there.
//!
//! A method that cannot read its input records the reason in the cursor and returns `None`. The
//! error is built from it once, at the end, which keeps the code small.

use crate::format_error::{FormatError, Found};

/// A position in a file, and what was expected there.
pub(crate) struct Cursor<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
    expected: &'static str,
    count: Option<u64>,
    number: Option<u64>,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the beginning of a file.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, expected: "", count: None, number: None }
    }

    /// Returns the reason why the last method returned `None`.
    pub(crate) fn error(&self) -> FormatError {
        let found = match (self.number, self.byte()) {
            (Some(number), _) => Found::Number(number),
            (None, Some(byte)) => Found::Byte(byte),
            (None, None) => Found::End,
        };
        FormatError { count: self.count, expected: self.expected, found, offset: self.at }
    }

    /// Records that `expected` is missing at this position.
    pub(crate) fn fail<T>(&mut self, expected: &'static str) -> Option<T> {
        self.expected = expected;
        None
    }

    /// Records that `expected` is missing at position `at`.
    pub(crate) fn fail_at<T>(&mut self, at: usize, expected: &'static str) -> Option<T> {
        self.at = at;
        self.fail(expected)
    }

    /// Records that `number` was found in place of `expected`.
    pub(crate) fn fail_number<T>(&mut self, number: u64, expected: &'static str) -> Option<T> {
        self.number = Some(number);
        self.fail(expected)
    }

    /// Records that `number` items were found in place of `count`. `expected` names the items.
    pub(crate) fn fail_count<T>(
        &mut self,
        number: usize,
        count: u64,
        expected: &'static str,
    ) -> Option<T> {
        self.count = Some(count);
        self.fail_number(number as u64, expected)
    }

    /// Returns the next byte.
    pub(crate) fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}
