//! A host for `edge.wasm` in Wasmtime, in one file to copy.
//!
//! Strings and bytes are passed through the module's memory. Its functions take and return numbers:
//! addresses and lengths.

use wasmtime::{
    Engine, Instance, Linker, Memory, Module, Result, Store, WasmParams, WasmResults, bail, ensure,
    format_err,
};

/// Longest first line of a filter, in bytes, including CR LF.
const MAX_LINE_LENGTH: usize = (1 << 16) + 2;

/// An instance of the module with a set of rules and a path filter. Use one per thread.
pub struct Edge {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
    rules: u32,
    filter: u32,
}

impl Edge {
    /// Instantiates the module, compiles `rules`, and loads the filter in `file`. The module's imports
    /// are for JavaScript and can do nothing.
    pub fn new(wasm: &[u8], rules: &[&str], file: &[u8]) -> Result<Self> {
        let module = Module::new(&Engine::default(), wasm)?;
        let mut store = Store::new(module.engine(), ());
        let mut linker = Linker::new(module.engine());
        linker.define_unknown_imports_as_default_values(&mut store, &module)?;
        let instance = linker.instantiate(&mut store, &module)?;
        let memory = instance.get_memory(&mut store, "memory");
        let memory = memory.ok_or_else(|| format_err!("expected a memory, found none"))?;
        let mut edge = Self { store, instance, memory, rules: 0, filter: 0 };
        edge.call::<_, ()>("__wbindgen_start", ())?;
        edge.rules = edge.call("ruleset_new", ())?;
        edge.filter = edge.call("filter_new", ())?;
        edge.compile(rules)?;
        edge.load(file)?;
        Ok(edge)
    }

    fn compile(&mut self, rules: &[&str]) -> Result<()> {
        for rule in rules {
            let [scratch, max_length, ..] = self.numbers()?;
            ensure!(rule.len() <= max_length as usize, "{rule}: expected at most 256 bytes");
            self.write(scratch, rule.as_bytes())?;
            let added: u32 = self.call("ruleset_add", (self.rules, rule.len() as u32))?;
            ensure!(added != 0, "{rule}: {}", self.refusal()?);
        }
        self.call("ruleset_compile", self.rules)
    }

    /// Loads a filter. Allocates no more memory than its first line allows.
    fn load(&mut self, file: &[u8]) -> Result<()> {
        let line = file.iter().take(MAX_LINE_LENGTH).position(|&byte| byte == b'\n');
        let line = line.ok_or_else(|| format_err!("path filter: expected a first line"))?;
        // A valid first line fails only because the characters after the quote are missing; the
        // module returns how many.
        let numbers = self.parse(&file[..file.len().min(line + 2)])?;
        let [.., count, _, offset] = numbers;
        if count < 0.0 {
            return self.refuse(numbers);
        }
        // The last group is padded; a quote and CR LF may follow.
        let max_length = offset as usize + (count as usize).next_multiple_of(4) + 3;
        ensure!(file.len() <= max_length, "path filter: expected at most {max_length} bytes");
        let numbers = self.parse(file)?;
        if numbers[0] == 0.0 { self.refuse(numbers) } else { Ok(()) }
    }

    /// Returns the error for a file that the module refused.
    fn refuse(&mut self, [_, text, length, .., offset]: [f64; 6]) -> Result<()> {
        let expected = self.text(text as u32, length as u32)?;
        bail!("path filter: expected {expected} at byte {offset}")
    }

    /// Parses a file in the module and returns its six numbers: see `Filter::parse` in
    /// `crates/edge-wasm`.
    fn parse(&mut self, file: &[u8]) -> Result<[f64; 6]> {
        let (length, is_trusted) = (u32::try_from(file.len())?, 0);
        let start = self.call("filter_reserve", (self.filter, length))?;
        self.write(start, file)?;
        let start: u32 = self.call("filter_parse", (self.filter, length, is_trusted))?;
        let mut numbers = [[0; 8]; 6];
        self.memory.read(&self.store, start as usize, numbers.as_flattened_mut())?;
        Ok(numbers.map(f64::from_le_bytes))
    }

    /// Strips the field lines of a message. Refuses malformed ones.
    pub fn strip_block(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let length = block.len() as u32;
        let start = self.call("ruleset_reserve", (self.rules, length))?;
        self.write(start, block)?;
        let left: i32 = self.call("ruleset_strip_block", (self.rules, length))?;
        ensure!(left >= 0, "field block: {}", self.refusal()?);
        block.truncate(left as usize);
        Ok(self.memory.read(&self.store, start as usize, block)?)
    }

    /// Returns whether a path may be in the filter. `false` is certain.
    pub fn has(&mut self, path: &[u8]) -> Result<bool> {
        let length = path.len() as u32;
        let start = self.call("filter_reserve_key", (self.filter, length))?;
        self.write(start, path)?;
        let has: u32 = self.call("filter_has", (self.filter, length))?;
        Ok(has != 0)
    }

    fn call<P: WasmParams, R: WasmResults>(&mut self, export: &str, given: P) -> Result<R> {
        let function = self.instance.get_typed_func(&mut self.store, export)?;
        function.call(&mut self.store, given)
    }

    /// Writes `bytes` to a buffer that the module reserved.
    fn write(&mut self, start: u32, bytes: &[u8]) -> Result<()> {
        ensure!(start != 0, "no memory for {} bytes", bytes.len());
        Ok(self.memory.write(&mut self.store, start as usize, bytes)?)
    }

    fn text(&self, start: u32, length: u32) -> Result<String> {
        let mut bytes = vec![0; length as usize];
        self.memory.read(&self.store, start as usize, &mut bytes)?;
        Ok(String::from_utf8(bytes)?)
    }

    /// Returns the message for the rule or block that was refused last.
    fn refusal(&mut self) -> Result<String> {
        let [.., text, length, _byte, _offset] = self.numbers()?;
        self.text(text, length)
    }

    /// Returns the addresses of the buffers of the rules: see `RuleSet::numbers` in `crates/edge-wasm`.
    fn numbers(&mut self) -> Result<[u32; 10]> {
        let start: u32 = self.call("ruleset_numbers", self.rules)?;
        let mut numbers = [[0; 4]; 10];
        self.memory.read(&self.store, start as usize, numbers.as_flattened_mut())?;
        Ok(numbers.map(u32::from_le_bytes))
    }
}
