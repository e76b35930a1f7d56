//! The module of the npm package gives the same results in Wasmtime as the crates do natively.

mod answers;
mod blocks;
mod damaged_files;
mod host;
mod memory;
mod published_files;
mod queries;
mod rules;
mod support;
