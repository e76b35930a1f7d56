//! Rules for headers.

use std::{error::Error, fmt, thread};

use crate::EdgeModule;

/// What stands for a number that there is not.
const NONE: u32 = u32::MAX;
/// What `strip_block` returns for a block that it refused.
const REFUSED: i32 = -1;
/// What `nominated` returns where there is no memory for what it would return.
const NO_MEMORY: i32 = -1;

/// A set of rules in the memory of a module.
pub struct HeaderRules<'m> {
    edge: &'m EdgeModule,
    this: u32,
}

impl<'m> HeaderRules<'m> {
    /// No rules yet.
    pub fn new(edge: &'m EdgeModule) -> Self {
        Self { edge, this: edge.call("ruleset_new", ()) }
    }

    /// Adds a rule.
    ///
    /// # Errors
    ///
    /// Why the module refused it.
    pub fn add(&mut self, rule: &[u8]) -> Result<(), HeaderRefusal> {
        let length = self.write_scratch(rule);
        let added: u32 = self.edge.call("ruleset_add", (self.this, length));
        if added == 0 { Err(self.refusal()) } else { Ok(()) }
    }

    /// Compiles the rules that were added.
    pub fn compile(&mut self) {
        self.edge.call("ruleset_compile", self.this)
    }

    /// Whether a rule matches `name`.
    pub fn matches(&self, name: &[u8]) -> bool {
        let length = self.write_scratch(name);
        let matches: u32 = self.edge.call("ruleset_matches", (self.this, length));
        matches != 0
    }

    /// Strips a field block in place. One that is refused comes back as the module left it.
    ///
    /// # Errors
    ///
    /// Why the module refused it.
    pub fn strip_block(&self, block: &mut Vec<u8>) -> Result<(), HeaderRefusal> {
        let length = block.len() as u32;
        let start = self.edge.call("ruleset_reserve", (self.this, length));
        self.edge.write(start, block);
        let left: i32 = self.edge.call("ruleset_strip_block", (self.this, length));
        let is_refused = left == REFUSED;
        *block = self.edge.read(start, if is_refused { length } else { left as u32 });
        if is_refused { Err(self.refusal()) } else { Ok(()) }
    }

    /// The fields that a `Connection` value nominates and no rule matches, each with a comma behind it,
    /// or with a colon if no sender may nominate it.
    pub fn nominated(&self, value: &[u8]) -> Vec<u8> {
        let list = [value, b","].concat();
        let length = list.len() as u32;
        let start = self.edge.call("ruleset_reserve", (self.this, length));
        self.edge.write(start, &list);
        let left: i32 = self.edge.call("ruleset_nominated", (self.this, length));
        assert_ne!(left, NO_MEMORY);
        self.edge.read(start, left as u32)
    }

    /// What JavaScript decides misses by.
    pub fn probe(&self) -> Probe {
        let [_, _, table, length, shortest_prefix, strips_connection, ..] = self.numbers();
        Probe {
            table: self.edge.read(table, length),
            shortest_prefix,
            strips_connection: strips_connection != 0,
        }
    }

    /// Writes `text`, of one that is longer than any rule only so much that it equals none, and
    /// returns the length of what was written.
    fn write_scratch(&self, text: &[u8]) -> u32 {
        let [scratch, most, ..] = self.numbers();
        let length = text.len().min(most as usize);
        self.edge.write(scratch, &text[..length]);
        length as u32
    }

    fn refusal(&self) -> HeaderRefusal {
        let [.., start, length, byte, offset] = self.numbers();
        HeaderRefusal {
            message: self.edge.text(start, length),
            byte: u8::try_from(byte).ok(),
            offset: (offset != NONE).then_some(offset),
        }
    }

    fn numbers(&self) -> [u32; 10] {
        let start = self.edge.call("ruleset_numbers", self.this);
        let mut numbers = [[0; 4]; 10];
        self.edge.read_into(start, numbers.as_flattened_mut());
        numbers.map(u32::from_le_bytes)
    }
}

impl Drop for HeaderRules<'_> {
    /// After a trap the module is not asked again: a second panic would hide the first one.
    fn drop(&mut self) {
        if !thread::panicking() {
            self.edge.call::<_, ()>("__wbg_ruleset_free", (self.this, 0));
        }
    }
}

/// What JavaScript decides misses by, on strings of its own.
#[derive(Debug, PartialEq)]
pub struct Probe {
    /// A bit for each name that may match.
    pub table: Vec<u8>,
    /// The length of the shortest prefix; 0 if there are none.
    pub shortest_prefix: u32,
    /// Whether `Connection` is stripped, and with it what it nominates.
    pub strips_connection: bool,
}

/// What the module says of a rule or of a block that it refused.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderRefusal {
    /// What was expected and what was found.
    pub message: String,
    /// The byte that was found, where the message leaves it open.
    pub byte: Option<u8>,
    /// Where it was found, in bytes from the beginning.
    pub offset: Option<u32>,
}

impl fmt::Display for HeaderRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let byte = self.byte.map_or(String::new(), |byte| format!(" {byte:#04x}"));
        let place = self.offset.map_or(String::new(), |offset| format!(" at byte {offset}"));
        write!(f, "{}{byte}{place}", self.message)
    }
}

impl Error for HeaderRefusal {}
