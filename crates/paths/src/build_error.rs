//! Why a filter cannot be built.

use core::fmt;

use crate::limits::{
    MAX_BITS, MAX_FALSE_POSITIVE_RATE, MAX_HEADER_LENGTH, MAX_INTEGER, MIN_FALSE_POSITIVE_RATE,
};

/// What [`PathFilterBuilder`](crate::PathFilterBuilder) does not build.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A rate below [`MIN_FALSE_POSITIVE_RATE`] or above [`MAX_FALSE_POSITIVE_RATE`].
    Rate {
        /// The rate that was asked for.
        found: f64,
    },
    /// A seed above [`MAX_INTEGER`].
    Seed {
        /// The seed that was asked for.
        found: u64,
    },
    /// A version that makes the first line longer than [`MAX_HEADER_LENGTH`].
    Version {
        /// The length of the line in bytes.
        found: usize,
    },
    /// More keys than were said to come.
    TooManyKeys {
        /// The number that was given.
        expected: u64,
    },
    /// So many keys that they need more bits than [`MAX_BITS`], or no bits.
    Bits {
        /// The number of keys.
        keys: u64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { found } => write!(
                f,
                "expected a false-positive rate from {MIN_FALSE_POSITIVE_RATE:e} to \
                 {MAX_FALSE_POSITIVE_RATE}, found {found}"
            ),
            Self::Seed { found } => {
                write!(f, "expected a seed of at most {MAX_INTEGER}, found {found}")
            }
            Self::Version { found } => write!(
                f,
                "expected a version that leaves line 1 below {MAX_HEADER_LENGTH} bytes, found a \
                 line of {found}"
            ),
            Self::TooManyKeys { expected } => {
                write!(f, "expected at most {expected} different keys, found more")
            }
            Self::Bits { keys } => {
                write!(f, "expected from 1 to {MAX_BITS} bits, found other for {keys} keys")
            }
        }
    }
}

impl core::error::Error for BuildError {}
