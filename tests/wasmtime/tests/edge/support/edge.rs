//! The module, compiled once: that takes far longer than to instantiate it.

use std::sync::LazyLock;

use hedgerow_tests_wasmtime::{EdgeModule, published};
use wasmtime::{Module, Result};

static PUBLISHED: LazyLock<Result<Module>> = LazyLock::new(published);

/// A new instance.
pub fn edge() -> EdgeModule {
    match &*PUBLISHED {
        Ok(module) => EdgeModule::instantiate(module).expect("an instance"),
        Err(error) => panic!("{error:?}"),
    }
}
