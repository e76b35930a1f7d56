//! The host.

use hedgerow_example_wasmtime_host::EdgeModule;
use wasmtime::{Engine, Module};

use crate::support::edge::paths;

#[test]
fn an_error_that_the_module_throws_is_a_trap_with_its_message() {
    let null = 0;
    let error = paths().call::<(u32, u32), u32>("filter_has", (null, 0)).unwrap_err();
    assert_eq!(error.root_cause().to_string(), "null pointer passed to rust");
}

#[test]
fn a_module_with_other_imports_is_refused() {
    // (module (import "env" "now" (func)))
    let wasm = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x0b\x01\x03env\x03now\0\0";
    let module = Module::new(&Engine::default(), wasm).unwrap();
    let error = EdgeModule::instantiate(&module).err().unwrap();
    assert!(error.to_string().ends_with("found now"), "{error}");
}
