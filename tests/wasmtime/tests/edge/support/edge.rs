//! The modules, each compiled once, since compiling one takes far longer than instantiating it.

use std::sync::LazyLock;

use hedgerow_example_wasmtime_host::EdgeModule;
use hedgerow_tests_wasmtime::published;
use wasmtime::{Module, Result};

static PATHS: LazyLock<Result<Module>> = LazyLock::new(|| published("paths"));
static BLOCK: LazyLock<Result<Module>> = LazyLock::new(|| published("block"));

/// Returns a new instance of `paths.wasm`.
pub fn paths() -> EdgeModule {
    instance(&PATHS)
}

/// Returns a new instance of `block.wasm`.
pub fn block() -> EdgeModule {
    instance(&BLOCK)
}

fn instance(published: &Result<Module>) -> EdgeModule {
    match published {
        Ok(module) => EdgeModule::instantiate(module).expect("an instance"),
        Err(error) => panic!("{error:?}"),
    }
}
