//! A host for `edge.wasm`, the module of the npm package `hedgerow`, in Wasmtime.
//!
//! It does what the package does in JavaScript: it writes strings and bytes to linear memory, passes
//! their addresses and lengths as numbers, and reads the results. Copy these files into your project;
//! `main.rs` shows how to use them.
//!
//! An [`EdgeModule`] is an instance of the module, for one thread. [`PathFilter`]s and [`HeaderRules`]
//! live in its memory, which they free when they are dropped. All functions return
//! [`wasmtime::Error`]: input that the module rejects is a [`FilterError`] or a [`HeaderError`] in it,
//! and anything else is a bug or a lack of memory.

mod edge_module;
mod header_rules;
mod imports;
mod path_filter;

pub use edge_module::EdgeModule;
pub use header_rules::{HeaderError, HeaderRules, Probe};
pub use path_filter::{FilterError, Found, PathFilter};
