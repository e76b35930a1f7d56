//! The WebAssembly surface of the npm package `hedgerow`, as one module for each job, so that programs
//! carry only those that they use: `paths.wasm`, `block.wasm` and `build.wasm`. This
//! crate only converts values; the logic is in the crates that it wraps.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

#[cfg(feature = "block")]
mod block;
#[cfg(feature = "paths")]
mod filter;
#[cfg(feature = "build")]
mod filter_builder;
#[cfg(feature = "build")]
mod filter_merger;
#[cfg(any(feature = "paths", feature = "build"))]
mod key_buffer;
#[cfg(feature = "build")]
mod measure;
#[cfg(target_arch = "wasm32")]
mod runtime;

#[cfg(feature = "block")]
pub use block::BlockStripper;
#[cfg(feature = "paths")]
pub use filter::Filter;
#[cfg(feature = "build")]
pub use filter_builder::FilterBuilder;
#[cfg(feature = "build")]
pub use filter_merger::FilterMerger;
#[cfg(feature = "build")]
pub use measure::measure;
