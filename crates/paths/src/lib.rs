#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod alphabet;
mod bit_array;
mod build_error;
mod builder;
mod built_filter;
mod collector;
mod cursor;
mod filter;
mod format_error;
mod fuse;
mod fuse_table;
mod hash;
mod hashes;
mod header;
mod json;
mod kind;
mod limits;
mod merge;
mod merge_error;
mod netstrings;
mod number;
mod prime;
mod probes;
mod query;
mod shape;
mod sizing;
mod version;
mod wildcard;

pub use alphabet::first_illegal;
pub use build_error::BuildError;
pub use builder::PathFilterBuilder;
pub use built_filter::BuiltFilter;
pub use collector::KeyCollector;
pub use filter::{Params, PathFilter};
pub use format_error::{FormatError, Found};
pub use hash::KeyHash;
pub use kind::Kind;
pub use limits::{
    MAX_BITS, MAX_DEPTH, MAX_FALSE_POSITIVE_RATE, MAX_HASHES, MAX_HEADER_LENGTH, MAX_INTEGER,
    MAX_SEGMENT_LENGTH, MAX_SLOTS, MAX_WILDCARD_DEPTH, MIN_FALSE_POSITIVE_RATE,
};
pub use merge::PathFilterMerger;
pub use merge_error::MergeError;
pub use netstrings::NetstringError;
pub use query::Query;
pub use sizing::Sizing;
