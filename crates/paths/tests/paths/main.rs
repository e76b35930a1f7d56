//! Tests of the public API, most of them against naive implementations.

mod build;
mod format;
mod fuse;
mod hash;
mod header;
mod merge;
mod netstrings;
mod query;
mod rate;
mod support;
mod vectors;
