//! A place in a file, and why it is refused there.
//!
//! What a function of a cursor cannot read it notes, and returns nothing: the error is put together
//! once, at the end.

use crate::format_error::{FormatError, Found};

/// A place in a file, and what was expected there in vain.
pub(crate) struct Cursor<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
    expected: &'static str,
    count: Option<u64>,
    number: Option<u64>,
}

impl<'a> Cursor<'a> {
    /// The beginning of a file.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, expected: "", count: None, number: None }
    }

    /// Why the last function returned nothing.
    pub(crate) fn error(&self) -> FormatError {
        let found = match (self.number, self.byte()) {
            (Some(number), _) => Found::Number(number),
            (None, Some(byte)) => Found::Byte(byte),
            (None, None) => Found::End,
        };
        FormatError { count: self.count, expected: self.expected, found, offset: self.at }
    }

    /// What was `expected` is not what lies here.
    pub(crate) fn fail<T>(&mut self, expected: &'static str) -> Option<T> {
        self.expected = expected;
        None
    }

    /// What was `expected` is not what lies there.
    pub(crate) fn fail_at<T>(&mut self, at: usize, expected: &'static str) -> Option<T> {
        self.at = at;
        self.fail(expected)
    }

    /// There is a `number` here, and another one was `expected`.
    pub(crate) fn fail_number<T>(&mut self, number: u64, expected: &'static str) -> Option<T> {
        self.number = Some(number);
        self.fail(expected)
    }

    /// There are `number` from here on, and `count` were `expected`.
    pub(crate) fn fail_count<T>(
        &mut self,
        number: usize,
        count: u64,
        expected: &'static str,
    ) -> Option<T> {
        self.count = Some(count);
        self.fail_number(number as u64, expected)
    }

    /// The byte that comes next.
    pub(crate) fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}
