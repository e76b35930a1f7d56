//! What is wrong with a snapshot file.

use core::fmt;

use crate::digest::Digest;

/// A file, or a frame of one, that was refused: which field, where, what was expected, and what was
/// found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatError {
    /// The field, in the words of `docs/vhs.md`.
    pub field: &'static str,
    /// The frame that the field is about, counted from 0, if it is about one.
    pub frame: Option<u32>,
    /// Where the field lies, in bytes from the beginning of the file.
    pub offset: u64,
    /// What was expected, and what was found.
    pub fault: Fault,
}

/// What was expected of a field, and what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Another magic number.
    Magic {
        /// The number of the format.
        expected: u64,
        /// What is in its place.
        found: u64,
    },
    /// Another number.
    NotExactly {
        /// The only number that is right.
        expected: u64,
        /// What is in its place.
        found: u64,
    },
    /// Too few bytes.
    TooShort {
        /// The smallest number of bytes that is right.
        least: u64,
        /// How many there are.
        found: u64,
    },
    /// A number beyond its limits.
    NotBetween {
        /// The smallest number that is right.
        least: u64,
        /// The largest number that is right.
        most: u64,
        /// What is in its place.
        found: u64,
    },
    /// A number that is no multiple.
    NotMultipleOf {
        /// What it should be a multiple of.
        unit: u64,
        /// What is in its place.
        found: u64,
    },
    /// A number that is no power of two.
    NotPowerOfTwo {
        /// What is in its place.
        found: u64,
    },
    /// Bytes with another digest.
    Digest {
        /// The digest that they should have.
        expected: Digest,
        /// The digest that they have.
        found: Digest,
    },
    /// No frame of zstd that can be decoded by itself.
    Zstd(&'static str),
    /// Other bytes than those that stand for a hole.
    Hole,
    /// No frame, since none was begun.
    NotBegun,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(frame) = self.frame {
            write!(f, "frame {frame}: ")?;
        }
        write!(f, "{} at byte {}: {}", self.field, self.offset, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { expected, found } => {
                write!(f, "expected {expected:#x}, found {found:#x}")
            }
            Self::NotExactly { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::TooShort { least, found } => {
                write!(f, "expected at least {least} bytes, found {found}")
            }
            Self::NotBetween { least, most, found } => {
                write!(f, "expected {least} to {most}, found {found}")
            }
            Self::NotMultipleOf { unit, found } => {
                write!(f, "expected a multiple of {unit}, found {found}")
            }
            Self::NotPowerOfTwo { found } => write!(f, "expected a power of two, found {found}"),
            Self::Digest { expected, found } => {
                write!(f, "expected bytes of digest {expected}, found {found}")
            }
            Self::Zstd(reason) => write!(f, "expected one whole zstd frame, found: {reason}"),
            Self::Hole => f.write_str("expected the bytes that stand for a hole, found others"),
            Self::NotBegun => f.write_str("expected a frame that was begun, found none"),
        }
    }
}

impl core::error::Error for FormatError {}
