//! What the crate promises, held against naive ways to do the same.

mod field_block;
#[cfg(feature = "http")]
mod header_map;
mod image;
mod lookup;
mod rules;
mod support;
