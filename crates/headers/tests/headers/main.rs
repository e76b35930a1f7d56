//! Tests of the public API, most of them against naive implementations.

mod field_block;
#[cfg(feature = "http")]
mod header_map;
mod image;
mod lookup;
mod rules;
mod support;
