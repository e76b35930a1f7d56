//! The module, instantiated, and its memory.

use std::{cell::RefCell, fs, io::ErrorKind};

use wasmtime::{
    Engine, Instance, Memory, Module, Result, Store, WasmParams, WasmResults, bail, format_err,
};

use crate::imports;

const PUBLISHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../js/edge/wasm/edge_bg.wasm");

/// Compiles the very file that the npm package publishes.
///
/// # Errors
///
/// A file that was not built, or cannot be compiled.
pub fn published() -> Result<Module> {
    let wasm = match fs::read(PUBLISHED) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("expected js/edge/wasm/edge_bg.wasm, found no such file: run `npm run build`")
        }
        read => read?,
    };
    Module::new(&Engine::default(), wasm)
}

/// An instance of the module.
pub struct EdgeModule {
    store: RefCell<Store<()>>,
    instance: Instance,
    memory: Memory,
}

impl EdgeModule {
    /// Instantiates the module, and starts it as its glue does in JavaScript.
    ///
    /// # Errors
    ///
    /// Imports that are unknown, or a memory that is missing.
    pub fn instantiate(module: &Module) -> Result<Self> {
        let mut store = Store::new(module.engine(), ());
        let instance = imports::linker(module)?.instantiate(&mut store, module)?;
        let memory = instance.get_memory(&mut store, "memory");
        let memory = memory.ok_or_else(|| format_err!("expected a memory, found none"))?;
        let edge = Self { store: RefCell::new(store), instance, memory };
        edge.try_call::<_, ()>("__wbindgen_start", ())?;
        Ok(edge)
    }

    /// Calls an export.
    ///
    /// # Errors
    ///
    /// A trap, or an export that is missing or of another type.
    pub fn try_call<P: WasmParams, R: WasmResults>(&self, export: &str, given: P) -> Result<R> {
        let mut store = self.store.borrow_mut();
        let function = self.instance.get_typed_func::<P, R>(&mut *store, export)?;
        function.call(&mut *store, given)
    }

    /// Calls an export that does not trap.
    pub(crate) fn call<P: WasmParams, R: WasmResults>(&self, export: &str, given: P) -> R {
        self.try_call(export, given).unwrap_or_else(|error| panic!("{export}: {error:?}"))
    }

    /// How many bytes of memory the module has.
    pub fn memory_size(&self) -> usize {
        self.memory.data_size(&*self.store.borrow())
    }

    /// Writes `bytes` to where the module made room for them.
    pub(crate) fn write(&self, start: u32, bytes: &[u8]) {
        assert_ne!(start, 0, "no memory for {} bytes", bytes.len());
        let mut store = self.store.borrow_mut();
        self.memory.write(&mut *store, start as usize, bytes).expect("a place in memory");
    }

    /// Reads `length` bytes.
    pub(crate) fn read(&self, start: u32, length: u32) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        self.read_into(start, &mut bytes);
        bytes
    }

    /// Reads as many bytes as there is room for.
    pub(crate) fn read_into(&self, start: u32, bytes: &mut [u8]) {
        let store = self.store.borrow();
        self.memory.read(&*store, start as usize, bytes).expect("a place in memory");
    }

    /// Reads a text of the module's own.
    pub(crate) fn text(&self, start: u32, length: u32) -> String {
        String::from_utf8(self.read(start, length)).expect("UTF-8")
    }
}
