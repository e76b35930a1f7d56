//! The fields of a file, and the checks of their values.

use crate::digest::Digest;
use crate::format_error::{Fault, FormatError};

/// The name and the offset of a field.
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

    /// Creates a field that concerns a frame.
    pub(crate) const fn of_frame(name: &'static str, frame: u32, offset: u64) -> Self {
        Self { name, frame: Some(frame), offset }
    }

    pub(crate) const fn fails(self, fault: Fault) -> FormatError {
        FormatError { field: self.name, frame: self.frame, offset: self.offset, fault }
    }

    /// Returns the field with the number found in it.
    pub(crate) fn with(self, found: impl Into<u64>) -> Number {
        Number { field: self, found: found.into() }
    }

    pub(crate) fn has_digest(self, bytes: &[u8], expected: Digest) -> Result<(), FormatError> {
        let found = Digest::of(bytes);
        if found == expected { Ok(()) } else { Err(self.fails(Fault::Digest { expected, found })) }
    }
}

/// A field with the number found in it.
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

    pub(crate) fn is_at_least(self, min: u64) -> Result<(), FormatError> {
        let found = self.found;
        self.unless(found >= min, Fault::TooShort { least: min, found })
    }

    pub(crate) fn is_between(
        self,
        min: impl Into<u64>,
        max: impl Into<u64>,
    ) -> Result<(), FormatError> {
        let (least, most, found) = (min.into(), max.into(), self.found);
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

    fn unless(self, is_valid: bool, fault: Fault) -> Result<(), FormatError> {
        if is_valid { Ok(()) } else { Err(self.field.fails(fault)) }
    }
}

/// A reader of fields.
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    frame: Option<u32>,
    offset: u64,
}

impl<'a> Fields<'a> {
    /// Creates a reader of `bytes`, which are at `offset` in the file.
    pub(crate) const fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, frame: None, offset }
    }

    /// Creates a reader of `bytes` that concern a frame, and which are at `offset` in the file.
    pub(crate) const fn of_frame(bytes: &'a [u8], offset: u64, frame: u32) -> Self {
        Self { bytes, frame: Some(frame), offset }
    }

    /// Sets the frame that the following fields concern.
    pub(crate) const fn set_frame(&mut self, frame: Option<u32>) {
        self.frame = frame;
    }

    /// Reads the next number: up to eight bytes in little-endian order. Missing bytes count as 0.
    pub(crate) fn number(&mut self, name: &'static str, length: usize) -> Number {
        let field = Field { name, frame: self.frame, offset: self.offset };
        let (bytes, rest) = self.bytes.split_at(length.min(self.bytes.len()));
        self.bytes = rest;
        self.offset += length as u64;
        field.with(bytes.iter().rfold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads the next digest.
    pub(crate) fn digest(&mut self) -> Digest {
        let (digest, rest) = self.bytes.split_first_chunk().unwrap_or((&[0; Digest::LENGTH], &[]));
        self.bytes = rest;
        self.offset += Digest::LENGTH as u64;
        Digest::from_bytes(*digest)
    }
}
