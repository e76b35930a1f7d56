//! The errors of reading a snapshot file.

use core::fmt;

use crate::digest::Digest;

/// The error of reading a snapshot file or a frame: which field, where, what was expected, and what
/// was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatError {
    /// Name of the field, as in `docs/vhs.md`.
    pub field: &'static str,
    /// Index of the frame that the field concerns, if any.
    pub frame: Option<u32>,
    /// Offset of the field in the file, in bytes.
    pub offset: u64,
    /// What was expected, and what was found.
    pub fault: Fault,
}

/// What was expected of a field, and what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The magic number differs.
    Magic {
        /// The magic number of the format.
        expected: u64,
        /// The number in the file.
        found: u64,
    },
    /// The number differs.
    NotExactly {
        /// The only valid number.
        expected: u64,
        /// The number in the file.
        found: u64,
    },
    /// There are too few bytes.
    TooShort {
        /// Minimum number of bytes.
        least: u64,
        /// Number of bytes in the file.
        found: u64,
    },
    /// The number is out of range.
    NotBetween {
        /// Minimum.
        least: u64,
        /// Maximum.
        most: u64,
        /// The number in the file.
        found: u64,
    },
    /// The number is not a multiple of a unit.
    NotMultipleOf {
        /// The unit.
        unit: u64,
        /// The number in the file.
        found: u64,
    },
    /// The number is not a power of two.
    NotPowerOfTwo {
        /// The number in the file.
        found: u64,
    },
    /// The digest of the bytes differs.
    Digest {
        /// Digest according to the file.
        expected: Digest,
        /// Digest of the bytes.
        found: Digest,
    },
    /// The bytes are not one zstd frame that can be decoded by itself. Holds zstd's reason.
    Zstd(&'static str),
    /// The bytes of a hole frame differ from those that its length determines.
    Hole,
    /// The reference to a base object is neither empty nor a relative path that stays in its folder.
    Reference,
    /// Another entry has the same value.
    Repeated,
    /// No mapping of the image uses the frame.
    Unused,
    /// The mapping continues the one before it.
    Divided,
    /// [`Decoder::finish`](crate::Decoder::finish) was called before
    /// [`begin`](crate::Decoder::begin).
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
                write!(f, "expected digest {expected}, found {found}")
            }
            Self::Zstd(reason) => write!(f, "expected one whole zstd frame, found: {reason}"),
            Self::Hole => f.write_str("expected the bytes of a hole frame, found others"),
            Self::Reference => f.write_str(
                "expected a relative path without empty segments, \".\", \"..\", \"\\\", \":\" and control \
                 characters, found another",
            ),
            Self::Repeated => f.write_str("expected different values, found one twice"),
            Self::Unused => f.write_str("expected a frame that a mapping uses, found another"),
            Self::Divided => f.write_str("expected one mapping, found two that continue each other"),
            Self::NotBegun => f.write_str("no frame was begun; call begin() first"),
        }
    }
}

impl core::error::Error for FormatError {}
