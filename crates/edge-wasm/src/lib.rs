//! What the npm package `hedgerow` calls. Nothing here decides anything: it converts.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

mod headers;
#[cfg(target_arch = "wasm32")]
mod runtime;

pub use headers::RuleSet;
