//! That the module of the npm package answers in Wasmtime what the crates answer natively.

mod answers;
mod blocks;
mod damaged_files;
mod host;
mod memory;
mod published_files;
mod queries;
mod rules;
mod support;
