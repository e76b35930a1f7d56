//! Tests of `edge.wasm` outside of JavaScript: the module of the npm package `hedgerow`, in Wasmtime.
//!
//! The host is that of `examples/wasmtime-host`. The results of the module are compared with those of
//! the crates, which run natively.

use std::{fs, io::ErrorKind};

use wasmtime::{Engine, Module, Result, bail};

const PUBLISHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../js/edge/wasm/edge_bg.wasm");

/// Compiles the file that the npm package publishes.
///
/// # Errors
///
/// Returns an error if the file was not built, or cannot be compiled.
pub fn published() -> Result<Module> {
    let wasm = match fs::read(PUBLISHED) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("js/edge/wasm/edge_bg.wasm does not exist; run `npm run build` first")
        }
        read => read?,
    };
    Module::new(&Engine::default(), wasm)
}
