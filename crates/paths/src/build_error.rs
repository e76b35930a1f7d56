//! The errors of building a filter.

use core::fmt;

use crate::limits::{
    MAX_BITS, MAX_FALSE_POSITIVE_RATE, MAX_HEADER_LENGTH, MAX_INTEGER, MAX_SLOTS,
    MIN_FALSE_POSITIVE_RATE,
};

/// The error of [`PathFilterBuilder`](crate::PathFilterBuilder) and
/// [`KeyCollector`](crate::KeyCollector).
///
/// [`Display`](fmt::Display) writes what was expected and what was found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The rate is below [`MIN_FALSE_POSITIVE_RATE`] or above [`MAX_FALSE_POSITIVE_RATE`].
    Rate {
        /// The requested rate.
        found: f64,
    },
    /// The seed is above [`MAX_INTEGER`].
    Seed {
        /// The requested seed.
        found: u64,
    },
    /// The version makes the first line longer than [`MAX_HEADER_LENGTH`].
    Version {
        /// Length of the line in bytes.
        found: usize,
    },
    /// More keys differ than the [`capacity`](crate::PathFilterBuilder::capacity), or than the count
    /// passed to [`build_counted`](crate::PathFilterBuilder::build_counted).
    TooManyKeys {
        /// The capacity or the count.
        expected: u64,
    },
    /// The keys need more than [`MAX_SLOTS`] slots.
    Slots {
        /// Number of keys.
        keys: u64,
    },
    /// No arrangement of the keys in a fuse filter was found. This only happens to keys that were
    /// chosen for it under this seed: choose a seed that nobody can guess.
    Attempts {
        /// Number of attempts.
        attempts: u64,
    },
    /// The keys need more than [`MAX_BITS`] bits, or the [`Sizing`](crate::Sizing) gives them none.
    Bits {
        /// Number of keys.
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
                write!(f, "a filter of {keys} keys needs a size from 1 to {MAX_BITS} bits")
            }
            Self::Slots { keys } => {
                write!(f, "expected keys for at most {MAX_SLOTS} slots, found {keys} keys")
            }
            Self::Attempts { attempts } => write!(
                f,
                "no arrangement of the keys was found in {attempts} attempts: choose another seed"
            ),
        }
    }
}

impl core::error::Error for BuildError {}
