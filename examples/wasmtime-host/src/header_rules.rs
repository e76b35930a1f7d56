//! Rules for headers, in the module `headers.wasm`.

use std::{error::Error, fmt, thread};

use wasmtime::{Result, ensure};

use crate::EdgeModule;

/// Sentinel of the module for "no value".
const NONE: u32 = u32::MAX;
/// Result of `nominated` if an allocation failed.
const NO_MEMORY: i32 = -1;

/// A set of rules in the memory of a module.
pub struct HeaderRules<'m> {
    edge: &'m EdgeModule,
    this: u32,
}

impl<'m> HeaderRules<'m> {
    /// Creates a set without rules.
    ///
    /// # Errors
    ///
    /// Returns an error if the module has no memory.
    pub fn new(edge: &'m EdgeModule) -> Result<Self> {
        Ok(Self { edge, this: edge.call("ruleset_new", ())? })
    }

    /// Adds a rule.
    ///
    /// # Errors
    ///
    /// Returns a [`HeaderError`] if the module rejects the rule.
    pub fn add(&mut self, rule: &[u8]) -> Result<()> {
        let length = self.write_scratch(rule)?;
        let added: u32 = self.edge.call("ruleset_add", (self.this, length))?;
        if added == 0 { Err(self.error()?.into()) } else { Ok(()) }
    }

    /// Compiles the rules that were added.
    ///
    /// # Errors
    ///
    /// Returns an error if the module has no memory.
    pub fn compile(&mut self) -> Result<()> {
        self.edge.call("ruleset_compile", self.this)
    }

    /// Returns whether a rule matches `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if the call traps.
    pub fn matches(&self, name: &[u8]) -> Result<bool> {
        let length = self.write_scratch(name)?;
        let matches: u32 = self.edge.call("ruleset_matches", (self.this, length))?;
        Ok(matches != 0)
    }

    /// Returns the fields that a `Connection` value nominates and no rule matches, each followed by a
    /// comma, or by a colon if no sender may nominate it.
    ///
    /// # Errors
    ///
    /// Returns an error if the module has no memory.
    pub fn nominated(&self, value: &[u8]) -> Result<Vec<u8>> {
        let list = [value, b","].concat();
        let length = u32::try_from(list.len())?;
        let address = self.edge.call("ruleset_reserve", (self.this, length))?;
        self.edge.write(address, &list)?;
        let rest: i32 = self.edge.call("ruleset_nominated", (self.this, length))?;
        ensure!(rest != NO_MEMORY, "the module has no memory for {length} bytes");
        self.edge.read(address, rest as u32)
    }

    /// Returns the table with which JavaScript decides misses.
    ///
    /// # Errors
    ///
    /// Returns an error if the call traps.
    pub fn probe(&self) -> Result<Probe> {
        let [_, _, table, length, _, _, shortest_prefix, strips_connection, ..] = self.numbers()?;
        Ok(Probe {
            table: self.edge.read(table, length)?,
            shortest_prefix,
            strips_connection: strips_connection != 0,
        })
    }

    /// Returns the compiled rules, as `block.wasm` and the crate `hedgerow-headers` read them.
    ///
    /// # Errors
    ///
    /// Returns an error if the call traps.
    pub fn image(&self) -> Result<Vec<u8>> {
        let [_, _, _, _, image, length, ..] = self.numbers()?;
        self.edge.read(image, length)
    }

    /// Writes `text` to the scratch buffer, and returns the length written. The buffer is longer than
    /// any rule, so a truncated text equals none.
    fn write_scratch(&self, text: &[u8]) -> Result<u32> {
        let [scratch, max, ..] = self.numbers()?;
        let length = text.len().min(max as usize);
        self.edge.write(scratch, &text[..length])?;
        Ok(length as u32)
    }

    fn error(&self) -> Result<HeaderError> {
        let [.., address, length, byte, offset] = self.numbers()?;
        HeaderError::read(self.edge, [address, length, byte, offset])
    }

    /// Reads the twelve numbers that `RuleSet::numbers` in `crates/edge-wasm` returns.
    fn numbers(&self) -> Result<[u32; 12]> {
        self.edge.numbers(self.edge.call("ruleset_numbers", self.this)?)
    }
}

impl Drop for HeaderRules<'_> {
    fn drop(&mut self) {
        let freed = self.edge.call::<_, ()>("__wbg_ruleset_free", (self.this, 0));
        debug_assert!(freed.is_ok() || thread::panicking(), "{freed:?}");
    }
}

/// The table with which JavaScript decides misses on its own strings.
#[derive(Debug, PartialEq)]
pub struct Probe {
    /// A bit for each name that may match.
    pub table: Vec<u8>,
    /// Length of the shortest prefix, or 0 if there is none.
    pub shortest_prefix: u32,
    /// Whether `Connection` is stripped, and with it the fields that it nominates.
    pub strips_connection: bool,
}

/// The error of a rule or a block that the module rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderError {
    /// The message: expected …, found ….
    pub message: String,
    /// The byte that was found, if the message ends before it.
    pub byte: Option<u8>,
    /// Offset in the rule or the block, in bytes.
    pub offset: Option<u32>,
}

impl HeaderError {
    /// Reads the error that these numbers of a module describe.
    pub(crate) fn read(
        edge: &EdgeModule,
        [address, length, byte, offset]: [u32; 4],
    ) -> Result<Self> {
        Ok(Self {
            message: edge.text(address, length)?,
            byte: u8::try_from(byte).ok(),
            offset: (offset != NONE).then_some(offset),
        })
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let byte = self.byte.map_or(String::new(), |byte| format!(" {byte:#04x}"));
        let offset = self.offset.map_or(String::new(), |offset| format!(" at byte {offset}"));
        write!(f, "{}{byte}{offset}", self.message)
    }
}

impl Error for HeaderError {}
