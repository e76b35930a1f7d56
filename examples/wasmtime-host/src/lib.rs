//! A host for the modules of the npm package `hedgerow`, in Wasmtime.
//!
//! It does what the package does in JavaScript: it writes strings and bytes to linear memory, passes
//! their addresses and lengths as numbers, and reads the results. Copy these files into your project;
//! `main.rs` shows how to use them.
//!
//! An [`EdgeModule`] is an instance of a module, for one thread. [`PathFilter`]s live in the memory of
//! `paths.wasm`, and [`BlockStripper`]s in that of `block.wasm`, which they free when they are dropped.
//! All functions return [`wasmtime::Error`]: input that a module rejects is a [`RuleError`] or a
//! [`HeaderError`] in it, a file that is no path filter is a message, and anything else is a bug or a lack
//! of memory.

mod block_stripper;
mod edge_module;
mod header_error;
mod imports;
mod path_filter;

pub use block_stripper::BlockStripper;
pub use edge_module::EdgeModule;
pub use header_error::{HeaderError, RuleError};
pub use path_filter::PathFilter;
