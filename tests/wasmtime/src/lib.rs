//! A host for `edge.wasm` that is not JavaScript: the module of the npm package `hedgerow`, in
//! Wasmtime.
//!
//! It does what the package does in JavaScript, and no more: it writes what it asks about into linear
//! memory, passes numbers, and reads the answers. What the module answers can so be held against
//! what the crates answer natively.
//!
//! There is nothing to handle in a test when the module traps: whatever asks it panics.

mod edge_module;
mod filter;
mod header_rules;
mod imports;

pub use edge_module::{EdgeModule, published};
pub use filter::{Filter, FilterRefusal, Found};
pub use header_rules::{HeaderRefusal, HeaderRules, Probe};
