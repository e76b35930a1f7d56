//! `edge.wasm` in Wasmtime: a file to copy.
//!
//! Texts and bytes lie in the module's memory. Its functions take and return numbers: where they lie,
//! and how long they are.

use wasmtime::{
    Engine, Instance, Linker, Memory, Module, Result, Store, WasmParams, WasmResults, bail, ensure,
    format_err,
};

/// The longest first line of a filter, in bytes, with a line end of two.
const LONGEST_LINE: usize = (1 << 16) + 2;

/// An instance of the module, for one thread, with a set of rules and a path filter in its memory.
pub struct Edge {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
    rules: u32,
    filter: u32,
}

impl Edge {
    /// Starts the module, whose imports are for JavaScript and may do nothing, compiles `rules`, and
    /// loads the filter in `file`.
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
            let [scratch, most, ..] = self.numbers()?;
            ensure!(rule.len() <= most as usize, "{rule}: expected at most 256 bytes");
            self.write(scratch, rule.as_bytes())?;
            let added: u32 = self.call("ruleset_add", (self.rules, rule.len() as u32))?;
            ensure!(added != 0, "{rule}: {}", self.refusal()?);
        }
        self.call("ruleset_compile", self.rules)
    }

    /// Loads a filter. No more memory is taken for a file than its first line allows.
    fn load(&mut self, file: &[u8]) -> Result<()> {
        let line = file.iter().take(LONGEST_LINE).position(|&byte| byte == b'\n');
        let line = line.ok_or_else(|| format_err!("path filter: expected a first line"))?;
        // With the quote behind it, all that may be missing is characters: the module tells how many.
        let numbers = self.parse(&file[..file.len().min(line + 2)])?;
        let [.., count, _, offset] = numbers;
        if count < 0.0 {
            return self.refuse(numbers);
        }
        // The last group is padded, and a quote and a line end may follow.
        let longest = offset as usize + (count as usize).next_multiple_of(4) + 3;
        ensure!(file.len() <= longest, "path filter: expected at most {longest} bytes");
        let numbers = self.parse(file)?;
        if numbers[0] == 0.0 { self.refuse(numbers) } else { Ok(()) }
    }

    /// Says why the module refused a file.
    fn refuse(&mut self, [_, text, length, .., offset]: [f64; 6]) -> Result<()> {
        let expected = self.text(text as u32, length as u32)?;
        bail!("path filter: expected {expected} at byte {offset}")
    }

    /// Has the module read a file, and returns its six numbers: see `Filter::parse` in
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

    /// Strips the field lines of a message. One with a malformed line is refused.
    pub fn strip_block(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let length = block.len() as u32;
        let start = self.call("ruleset_reserve", (self.rules, length))?;
        self.write(start, block)?;
        let left: i32 = self.call("ruleset_strip_block", (self.rules, length))?;
        ensure!(left >= 0, "field block: {}", self.refusal()?);
        block.truncate(left as usize);
        Ok(self.memory.read(&self.store, start as usize, block)?)
    }

    /// Whether a path may be in the filter; if not, it certainly is not.
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

    /// Writes `bytes` where the module made room for them.
    fn write(&mut self, start: u32, bytes: &[u8]) -> Result<()> {
        ensure!(start != 0, "no memory for {} bytes", bytes.len());
        Ok(self.memory.write(&mut self.store, start as usize, bytes)?)
    }

    fn text(&self, start: u32, length: u32) -> Result<String> {
        let mut bytes = vec![0; length as usize];
        self.memory.read(&self.store, start as usize, &mut bytes)?;
        Ok(String::from_utf8(bytes)?)
    }

    /// What is wrong with the rule or the block that was refused last.
    fn refusal(&mut self) -> Result<String> {
        let [.., text, length, _byte, _offset] = self.numbers()?;
        self.text(text, length)
    }

    /// Where the buffers of the rules lie; `RuleSet::numbers` in `crates/edge-wasm` says which is which.
    fn numbers(&mut self) -> Result<[u32; 10]> {
        let start: u32 = self.call("ruleset_numbers", self.rules)?;
        let mut numbers = [[0; 4]; 10];
        self.memory.read(&self.store, start as usize, numbers.as_flattened_mut())?;
        Ok(numbers.map(u32::from_le_bytes))
    }
}
