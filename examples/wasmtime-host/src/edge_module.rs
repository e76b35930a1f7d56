//! The instance of a module, and its memory.

use std::cell::RefCell;

use wasmtime::{
    Engine, Instance, Memory, Module, Result, Store, WasmParams, WasmResults, ensure, format_err,
};

use crate::imports;

/// An instance of a module, for one thread.
pub struct EdgeModule {
    store: RefCell<Store<()>>,
    instance: Instance,
    memory: Memory,
}

impl EdgeModule {
    /// Compiles and instantiates the module.
    ///
    /// # Errors
    ///
    /// Returns an error if `wasm` is not a module, or has unknown imports or no memory.
    pub fn new(wasm: &[u8]) -> Result<Self> {
        Self::instantiate(&Module::new(&Engine::default(), wasm)?)
    }

    /// Instantiates a compiled module, and starts it as the glue in JavaScript does.
    ///
    /// # Errors
    ///
    /// Returns an error if the module has unknown imports or no memory.
    pub fn instantiate(module: &Module) -> Result<Self> {
        let mut store = Store::new(module.engine(), ());
        let instance = imports::linker(module)?.instantiate(&mut store, module)?;
        let memory = instance.get_memory(&mut store, "memory");
        let memory = memory.ok_or_else(|| format_err!("expected a memory, found none"))?;
        let edge = Self { store: RefCell::new(store), instance, memory };
        edge.call::<_, ()>("__wbindgen_start", ())?;
        Ok(edge)
    }

    /// Calls an export.
    ///
    /// # Errors
    ///
    /// Returns an error if the call traps, or if the export is missing or has another type.
    pub fn call<P: WasmParams, R: WasmResults>(&self, export: &str, arguments: P) -> Result<R> {
        let mut store = self.store.borrow_mut();
        let function = self.instance.get_typed_func::<P, R>(&mut *store, export)?;
        function.call(&mut *store, arguments)
    }

    /// Returns the size of the module's memory in bytes.
    pub fn memory_size(&self) -> usize {
        self.memory.data_size(&*self.store.borrow())
    }

    /// Writes `bytes` to an address that the module returned, which is 0 if an allocation failed.
    pub(crate) fn write(&self, address: u32, bytes: &[u8]) -> Result<()> {
        ensure!(address != 0, "the module has no memory for {} bytes", bytes.len());
        let mut store = self.store.borrow_mut();
        Ok(self.memory.write(&mut *store, address as usize, bytes)?)
    }

    /// Reads `length` bytes.
    pub(crate) fn read(&self, address: u32, length: u32) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        self.read_into(address, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads as many bytes as `bytes` has.
    pub(crate) fn read_into(&self, address: u32, bytes: &mut [u8]) -> Result<()> {
        let store = self.store.borrow();
        Ok(self.memory.read(&*store, address as usize, bytes)?)
    }

    /// Reads numbers.
    pub(crate) fn numbers<const N: usize>(&self, address: u32) -> Result<[u32; N]> {
        let mut numbers = [[0; 4]; N];
        self.read_into(address, numbers.as_flattened_mut())?;
        Ok(numbers.map(u32::from_le_bytes))
    }

    /// Reads UTF-8.
    pub(crate) fn text(&self, address: u32, length: u32) -> Result<String> {
        Ok(String::from_utf8(self.read(address, length)?)?)
    }
}
