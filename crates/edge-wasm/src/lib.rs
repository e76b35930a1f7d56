//! The WebAssembly surface of the npm package `hedgerow`, as two modules: `edge.wasm` for requests,
//! and `build.wasm` for builds, so that workers need not bundle the builder. This crate only converts
//! values; the logic is in the crates that it wraps.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

#[cfg(feature = "edge")]
mod filter;
#[cfg(feature = "build")]
mod filter_builder;
#[cfg(feature = "edge")]
mod headers;
mod key_buffer;
#[cfg(feature = "build")]
mod measure;
#[cfg(target_arch = "wasm32")]
mod runtime;

#[cfg(feature = "edge")]
pub use filter::Filter;
#[cfg(feature = "build")]
pub use filter_builder::FilterBuilder;
#[cfg(feature = "edge")]
pub use headers::RuleSet;
#[cfg(feature = "build")]
pub use measure::measure;
