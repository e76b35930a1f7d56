//! A JSON parser for the first line of a filter, which builds no values.
//!
//! A general parser would allocate, and would not report the offset of a value. The grammar is that
//! of RFC 8259, except that a line feed ends the line.

use core::ops::{Range, RangeInclusive};

use crate::{
    cursor::Cursor,
    limits::{MAX_DEPTH, MAX_INTEGER},
};

impl<'a> Cursor<'a> {
    /// Records that `expected` is missing before the brace that was read last.
    pub(crate) fn missing<T>(&mut self, expected: &'static str) -> Option<T> {
        self.fail_at(self.at - 1, expected)
    }

    /// Skips white space and returns the next byte.
    #[inline(never)]
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// Skips white space, then `byte` if it is next. Returns whether it was.
    #[inline(never)]
    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Option<()> {
        if self.skip(byte) { Some(()) } else { self.fail(expected) }
    }

    /// Reads the end of the line.
    pub(crate) fn end_of_line(&mut self) -> Option<()> {
        self.expect(b'\n', "the end of line 1")
    }

    /// Enters an object.
    pub(crate) fn open(&mut self) -> Option<()> {
        self.expect(b'{', "{ and a member")
    }

    /// Advances to the value of the next member of an object, and returns its name with its escapes.
    /// Returns `Some(None)` after the end of the object. `is_first` is true before the first member.
    #[inline(never)]
    pub(crate) fn member(&mut self, is_first: &mut bool) -> Option<Option<&'a [u8]>> {
        if core::mem::replace(is_first, false) {
            if self.skip(b'}') {
                return Some(None);
            }
        } else if !self.skip(b',') {
            return self.expect(b'}', ", or }").map(|()| None);
        }
        self.peek();
        let name = self.string()?;
        self.expect(b':', ":")?;
        self.peek();
        Some(Some(&self.bytes[name]))
    }

    /// Reads a string, and returns the range of its text.
    #[inline(never)]
    pub(crate) fn string(&mut self) -> Option<Range<usize>> {
        self.expect(b'"', "a string")?;
        let start = self.at;
        loop {
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(0x20..) => self.at += 1,
                _ => return self.fail("a character of a string, or its end"),
            }
        }
        let text = start..self.at;
        self.at += 1;
        match self.bytes[text.clone()].utf8_chunks().find(|chunk| !chunk.invalid().is_empty()) {
            Some(chunk) => self.fail_at(start + chunk.valid().len(), "UTF-8"),
            None => Some(text),
        }
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 1;
        let digits = match self.byte() {
            Some(b'u') => 4,
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            _ => return self.fail("an escape"),
        };
        self.at += 1;
        for _ in 0..digits {
            if !self.byte().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                return self.fail("a hexadecimal digit");
            }
            self.at += 1;
        }
        Some(())
    }

    /// Reads an integer within `range`, written without a fraction or an exponent.
    pub(crate) fn integer(
        &mut self,
        range: &RangeInclusive<u64>,
        expected: &'static str,
    ) -> Option<u64> {
        let start = self.at;
        let mut integer = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.byte() {
            let has_zero_in_front = self.at > start && integer == 0;
            integer = integer * 10 + u64::from(digit - b'0');
            if has_zero_in_front || integer > MAX_INTEGER {
                return self.fail(expected);
            }
            self.at += 1;
        }
        if self.at == start || matches!(self.byte(), Some(b'.' | b'e' | b'E')) {
            return self.fail(expected);
        }
        if !range.contains(&integer) {
            self.at = start;
            return self.fail_number(integer, expected);
        }
        Some(integer)
    }

    /// Reads a number that is not negative, and returns its range.
    pub(crate) fn rate(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            return self.fail("a number that is not negative");
        }
        self.number()?;
        Some(start..self.at)
    }

    /// Skips any value.
    pub(crate) fn value(&mut self) -> Option<()> {
        self.nested(MAX_DEPTH)
    }

    fn nested(&mut self, depth: u32) -> Option<()> {
        match self.peek() {
            Some(b'{' | b'[') if depth == 0 => self.fail("no deeper nesting"),
            Some(b'{') => {
                self.open()?;
                let mut is_first = true;
                while self.member(&mut is_first)?.is_some() {
                    self.nested(depth - 1)?;
                }
                Some(())
            }
            Some(b'[') => {
                self.at += 1;
                if self.skip(b']') {
                    return Some(());
                }
                loop {
                    self.nested(depth - 1)?;
                    if !self.skip(b',') {
                        return self.expect(b']', ", or ]");
                    }
                }
            }
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => self.number(),
        }
    }

    #[inline(never)]
    fn word(&mut self, word: &[u8]) -> Option<()> {
        for &byte in word {
            if self.byte() != Some(byte) {
                return self.fail("a value");
            }
            self.at += 1;
        }
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.byte() == Some(b'-'));
        let has_zero_in_front = self.byte() == Some(b'0');
        if self.digits("a value")? > 1 && has_zero_in_front {
            return self.fail("a number without leading zeros");
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits("a digit")?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits("a digit")?;
        }
        Some(())
    }

    /// Reads digits, and returns their number.
    #[inline(never)]
    fn digits(&mut self, expected: &'static str) -> Option<usize> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { self.fail(expected) } else { Some(self.at - start) }
    }
}
