//! The skippable frames of zstd, which hold everything except the image.

use alloc::vec::Vec;

use crate::field::{Fields, Number};
use crate::format_error::FormatError;

/// A skippable frame of a snapshot.
#[derive(Clone, Copy)]
pub(crate) enum Skippable {
    Header,
    Manifest,
    SeekTable,
}

impl Skippable {
    const fn magic(self) -> u32 {
        match self {
            Self::Header => 0x184D_2A57,
            Self::Manifest => 0x184D_2A58,
            // As defined by the seekable format.
            Self::SeekTable => 0x184D_2A5E,
        }
    }

    /// Returns the names of the magic number and of the length, for errors.
    const fn names(self) -> [&'static str; 2] {
        match self {
            Self::Header => ["magic number of the header", "length of the header"],
            Self::Manifest => ["magic number of the manifest", "length of the manifest"],
            Self::SeekTable => ["magic number of the seek table", "length of the seek table"],
        }
    }

    /// Appends the magic number and the length of a content of `length` bytes.
    pub(crate) fn write(self, length: u64, out: &mut Vec<u8>) {
        out.extend(self.magic().to_le_bytes());
        out.extend((length as u32).to_le_bytes());
    }

    /// Checks the magic number, and returns the length of the content.
    pub(crate) fn check_magic(self, fields: &mut Fields<'_>) -> Result<Number, FormatError> {
        let [magic_name, length_name] = self.names();
        fields.number(magic_name, 4).is_magic(self.magic())?;
        Ok(fields.number(length_name, 4))
    }

    /// Checks the magic number, and that the content has `length` bytes.
    pub(crate) fn check(self, fields: &mut Fields<'_>, length: u64) -> Result<(), FormatError> {
        self.check_magic(fields)?.is(length)
    }
}
