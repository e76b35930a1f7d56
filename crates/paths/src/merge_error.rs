//! The errors of merging filters.

use core::fmt;

use crate::limits::MAX_INTEGER;

/// The error of [`PathFilterMerger::add`](crate::PathFilterMerger::add).
///
/// [`Display`](fmt::Display) writes what was expected and what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// A filter is not of [`Kind::Bloom`](crate::Kind::Bloom), the only kind that can be merged.
    Kind,
    /// A parameter differs from that of the first filter.
    Parameter {
        /// Its name in the file: `m`, `k` or `s`.
        name: &'static str,
        /// Its value in the first filter.
        expected: u64,
        /// Its value in this filter.
        found: u64,
    },
    /// The numbers of keys add up to more than [`MAX_INTEGER`].
    Keys {
        /// Their sum.
        found: u64,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => f.write_str("expected a Bloom filter, found a filter of another kind"),
            Self::Parameter { name, expected, found } => {
                write!(f, "expected a filter with {name} = {expected}, found {name} = {found}")
            }
            Self::Keys { found } => {
                write!(f, "expected at most {MAX_INTEGER} keys in all filters, found {found}")
            }
        }
    }
}

impl core::error::Error for MergeError {}
