//! What the crate promises, held against naive ways to do the same.

mod build;
mod format;
mod hash;
mod header;
mod query;
mod rate;
mod support;
mod vectors;
