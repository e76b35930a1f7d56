//! Tests of the modules of the npm package `hedgerow` outside of JavaScript, in Wasmtime.
//!
//! The host is that of `examples/wasmtime-host`. The results of the modules are compared with those of
//! the crates, which run natively.

use std::{fs, io::ErrorKind};

use wasmtime::{Engine, Module, Result, bail};

const PUBLISHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../js/edge/wasm");

/// Compiles a module that the npm package publishes.
///
/// # Errors
///
/// Returns an error if the file was not built, or cannot be compiled.
pub fn published(name: &str) -> Result<Module> {
    let wasm = match fs::read(format!("{PUBLISHED}/{name}_bg.wasm")) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("js/edge/wasm/{name}_bg.wasm does not exist; run `npm run build` first")
        }
        read => read?,
    };
    Module::new(&Engine::default(), wasm)
}
