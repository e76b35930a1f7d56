//! The imports of the module. Their names end in hashes that change with the version of `wasm-bindgen`.

use wasmtime::{Caller, Linker, Module, Result, bail, format_err};

/// Defines every import of `module`.
pub(crate) fn linker(module: &Module) -> Result<Linker<()>> {
    let mut linker = Linker::new(module.engine());
    for import in module.imports() {
        let (from, name) = (import.module(), import.name());
        if name.starts_with("__wbg___wbindgen_throw") {
            linker.func_wrap(from, name, throw)?;
        } else if name.starts_with("__wbindgen_init_externref_table") {
            // The table is for JavaScript values, of which there are none.
            linker.func_wrap(from, name, || {})?;
        } else {
            bail!("expected imports for JavaScript's errors and values, found {name}");
        }
    }
    Ok(linker)
}

/// Traps with the message of the error that the module throws.
fn throw(mut caller: Caller<'_, ()>, address: u32, length: u32) -> Result<()> {
    let memory = caller.get_export("memory").and_then(|export| export.into_memory());
    let memory = memory.ok_or_else(|| format_err!("expected a memory, found none"))?;
    let mut message = vec![0; length as usize];
    memory.read(&caller, address as usize, &mut message)?;
    bail!("{}", String::from_utf8_lossy(&message))
}
