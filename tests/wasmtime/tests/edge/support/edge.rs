//! The module, compiled once, since compiling it takes far longer than instantiating it.

use std::sync::LazyLock;

use hedgerow_example_wasmtime_host::EdgeModule;
use hedgerow_tests_wasmtime::published;
use wasmtime::{Module, Result};

static PUBLISHED: LazyLock<Result<Module>> = LazyLock::new(published);

/// Returns a new instance.
pub fn edge() -> EdgeModule {
    match &*PUBLISHED {
        Ok(module) => EdgeModule::instantiate(module).expect("an instance"),
        Err(error) => panic!("{error:?}"),
    }
}
