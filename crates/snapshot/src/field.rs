//! The fields of a file: what each is called, where it lies, and what it may be.

use crate::digest::Digest;
use crate::format_error::{Fault, FormatError};

/// What a field is called, and where it lies.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    name: &'static str,
    frame: Option<u32>,
    offset: u64,
}

impl Field {
    pub(crate) const fn new(name: &'static str, offset: u64) -> Self {
        Self { name, frame: None, offset }
    }

    /// A field that is about a frame.
    pub(crate) const fn of_frame(name: &'static str, frame: u32, offset: u64) -> Self {
        Self { name, frame: Some(frame), offset }
    }

    pub(crate) const fn fails(self, fault: Fault) -> FormatError {
        FormatError { field: self.name, frame: self.frame, offset: self.offset, fault }
    }

    /// The number that was found in it.
    pub(crate) fn with(self, found: impl Into<u64>) -> Number {
        Number { field: self, found: found.into() }
    }

    pub(crate) fn has_digest(self, bytes: &[u8], expected: Digest) -> Result<(), FormatError> {
        let found = Digest::of(bytes);
        if found == expected { Ok(()) } else { Err(self.fails(Fault::Digest { expected, found })) }
    }
}

/// A number that was found in a field.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    field: Field,
    pub(crate) found: u64,
}

impl Number {
    pub(crate) fn is(self, expected: impl Into<u64>) -> Result<(), FormatError> {
        let (expected, found) = (expected.into(), self.found);
        self.unless(found == expected, Fault::NotExactly { expected, found })
    }

    pub(crate) fn is_magic(self, expected: impl Into<u64>) -> Result<(), FormatError> {
        let (expected, found) = (expected.into(), self.found);
        self.unless(found == expected, Fault::Magic { expected, found })
    }

    pub(crate) fn is_at_least(self, least: u64) -> Result<(), FormatError> {
        let found = self.found;
        self.unless(found >= least, Fault::TooShort { least, found })
    }

    pub(crate) fn is_between(
        self,
        least: impl Into<u64>,
        most: impl Into<u64>,
    ) -> Result<(), FormatError> {
        let (least, most, found) = (least.into(), most.into(), self.found);
        self.unless((least..=most).contains(&found), Fault::NotBetween { least, most, found })
    }

    pub(crate) fn is_multiple_of(self, unit: impl Into<u64>) -> Result<(), FormatError> {
        let (unit, found) = (unit.into(), self.found);
        self.unless(found.is_multiple_of(unit), Fault::NotMultipleOf { unit, found })
    }

    pub(crate) fn is_power_of_two(self) -> Result<(), FormatError> {
        let found = self.found;
        self.unless(found.is_power_of_two(), Fault::NotPowerOfTwo { found })
    }

    fn unless(self, is_right: bool, fault: Fault) -> Result<(), FormatError> {
        if is_right { Ok(()) } else { Err(self.field.fails(fault)) }
    }
}

/// Bytes that are read field by field.
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    frame: Option<u32>,
    offset: u64,
}

impl<'a> Fields<'a> {
    /// Of `bytes`, which lie at `offset` in the file.
    pub(crate) const fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, frame: None, offset }
    }

    /// Of the entry of a frame, which lies at `offset` in the file.
    pub(crate) const fn of_frame(bytes: &'a [u8], offset: u64, frame: u32) -> Self {
        Self { bytes, frame: Some(frame), offset }
    }

    /// Says which frame the fields that follow are about.
    pub(crate) const fn set_frame(&mut self, frame: Option<u32>) {
        self.frame = frame;
    }

    /// Takes the next number, of up to eight bytes in little-endian order. What is not there is 0.
    pub(crate) fn number(&mut self, name: &'static str, length: usize) -> Number {
        let field = Field { name, frame: self.frame, offset: self.offset };
        let (bytes, rest) = self.bytes.split_at(length.min(self.bytes.len()));
        self.bytes = rest;
        self.offset += length as u64;
        field.with(bytes.iter().rfold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Takes the digest that is next.
    pub(crate) fn digest(&mut self) -> Digest {
        let (digest, rest) = self.bytes.split_first_chunk().unwrap_or((&[0; Digest::LENGTH], &[]));
        self.bytes = rest;
        self.offset += Digest::LENGTH as u64;
        Digest::from_bytes(*digest)
    }
}
