//! Reading one line of JSON without building anything of it.
//!
//! A general parser would allocate, and would not say where a value lies; this one serves the first
//! line of a filter, with the grammar of RFC 8259.

use core::ops::Range;

use crate::{
    format_error::FormatError,
    limits::{MAX_DEPTH, MAX_INTEGER},
};

/// A place in a line of JSON.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The beginning of `line`, which is UTF-8.
    pub(crate) fn new(line: &'a str) -> Self {
        Self { line: line.as_bytes(), at: 0 }
    }

    /// How far it has come, in bytes.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// What was `expected` is not what lies here.
    pub(crate) fn unexpected(&self, expected: &'static str) -> FormatError {
        FormatError::at(self.line, self.at, expected)
    }

    /// What was `expected` is not there before the byte that was read last.
    pub(crate) fn before(&self, expected: &'static str) -> FormatError {
        FormatError::at(self.line, self.at - 1, expected)
    }

    /// The byte that comes next, behind white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r') = self.line.get(self.at) {
            self.at += 1;
        }
        self.line.get(self.at).copied()
    }

    /// Goes past `byte`, if it comes next.
    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), FormatError> {
        if self.skip(byte) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Only white space is left.
    pub(crate) fn end(&mut self) -> Result<(), FormatError> {
        if self.peek().is_none() { Ok(()) } else { Err(self.unexpected("the end of line 1")) }
    }

    /// Reads an object: `member` reads each value, told its name as it is written.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a [u8]) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.expect(b'{', "{ and a member")?;
        if self.skip(b'}') {
            return Ok(());
        }
        loop {
            self.peek();
            let name = self.string()?;
            self.expect(b':', ":")?;
            self.peek();
            member(self, &self.line[name])?;
            if !self.skip(b',') {
                return self.expect(b'}', ", or }");
            }
        }
    }

    /// Goes past a string, and says where its text lies.
    pub(crate) fn string(&mut self) -> Result<Range<usize>, FormatError> {
        self.expect(b'"', "a string")?;
        let start = self.at;
        loop {
            match self.line.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(0x20..) => self.at += 1,
                _ => return Err(self.unexpected("a character of a string, or its end")),
            }
        }
        self.at += 1;
        Ok(start..self.at - 1)
    }

    fn escape(&mut self) -> Result<(), FormatError> {
        self.at += 1;
        let digits = match self.line.get(self.at) {
            Some(b'u') => 4,
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            _ => return Err(self.unexpected("an escape")),
        };
        self.at += 1;
        for _ in 0..digits {
            if !self.line.get(self.at).is_some_and(u8::is_ascii_hexdigit) {
                return Err(self.unexpected("a hexadecimal digit"));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads an integer that is not negative, written without a fraction and an exponent.
    pub(crate) fn integer(&mut self) -> Result<u64, FormatError> {
        let expected = "an integer from 0 to 2^53 - 1";
        let start = self.at;
        let mut integer = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.line.get(self.at) {
            integer = integer * 10 + u64::from(digit - b'0');
            if integer > MAX_INTEGER || (integer > 0 && self.line[start] == b'0') {
                return Err(self.unexpected(expected));
            }
            self.at += 1;
        }
        let is_over = !matches!(self.line.get(self.at), Some(b'.' | b'e' | b'E'));
        if self.at > start && is_over && (integer > 0 || self.at == start + 1) {
            return Ok(integer);
        }
        Err(self.unexpected(expected))
    }

    /// Reads a number between 0 and 1, and says where it lies.
    pub(crate) fn fraction(&mut self) -> Result<Range<usize>, FormatError> {
        let start = self.at;
        let number = self.number()?;
        if number.is_fraction() {
            return Ok(start..self.at);
        }
        Err(FormatError::at(self.line, start, "a number above 0 and below 1"))
    }

    /// Goes past any value.
    pub(crate) fn value(&mut self) -> Result<(), FormatError> {
        self.nested(MAX_DEPTH)
    }

    fn nested(&mut self, depth: u32) -> Result<(), FormatError> {
        match self.peek() {
            Some(b'{' | b'[') if depth == 0 => Err(self.unexpected("no deeper nesting")),
            Some(b'{') => self.object(|cursor, _| cursor.nested(depth - 1)),
            Some(b'[') => self.array(depth - 1),
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => self.number().map(drop),
        }
    }

    fn array(&mut self, depth: u32) -> Result<(), FormatError> {
        self.at += 1;
        if self.skip(b']') {
            return Ok(());
        }
        loop {
            self.nested(depth)?;
            if !self.skip(b',') {
                return self.expect(b']', ", or ]");
            }
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), FormatError> {
        for byte in word {
            if self.line.get(self.at) != Some(byte) {
                return Err(self.unexpected("a value"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Magnitude, FormatError> {
        let is_negative = self.line.get(self.at) == Some(&b'-');
        self.at += usize::from(is_negative);
        let whole = self.digits("a value")?;
        if whole.len() > 1 && whole[0] == b'0' {
            return Err(self.unexpected("a number without zeros in front"));
        }
        let mut fraction = &[][..];
        if self.line.get(self.at) == Some(&b'.') {
            self.at += 1;
            fraction = self.digits("a digit")?;
        }
        let mut exponent = 0_i64;
        if let Some(b'e' | b'E') = self.line.get(self.at) {
            self.at += 1;
            let sign = self.line.get(self.at).copied();
            self.at += usize::from(matches!(sign, Some(b'+' | b'-')));
            for digit in self.digits("a digit")? {
                exponent = (exponent * 10 + i64::from(digit - b'0')).min(i64::from(u32::MAX));
            }
            if sign == Some(b'-') {
                exponent = -exponent;
            }
        }
        let first = whole.iter().chain(fraction).position(|digit| *digit != b'0');
        let power = first.map(|first| whole.len() as i64 - first as i64 + exponent);
        Ok(Magnitude { is_negative, power })
    }

    fn digits(&mut self, expected: &'static str) -> Result<&'a [u8], FormatError> {
        let rest = &self.line[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return Err(self.unexpected(expected));
        }
        self.at += length;
        Ok(&rest[..length])
    }
}

/// How large a number is: below the power of ten, but not below the next smaller one.
struct Magnitude {
    is_negative: bool,
    /// None for zero.
    power: Option<i64>,
}

impl Magnitude {
    fn is_fraction(&self) -> bool {
        !self.is_negative && self.power.is_some_and(|power| power <= 0)
    }
}
