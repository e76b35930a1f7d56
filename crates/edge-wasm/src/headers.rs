//! Header stripping for JavaScript.
//!
//! Only numbers cross the border. Strings and bytes lie in buffers in linear memory that JavaScript
//! writes and reads; [`RuleSet::numbers`] says where.

use alloc::vec::Vec;

use hedgerow_headers::{
    Fault, HeaderSet, HeaderSetBuilder, MAX_RULE_LENGTH, Nomination, connection_options, nomination,
};
use wasm_bindgen::prelude::*;

/// The longest text that is looked at in full: a rule and its `*`, and one byte more, so that what
/// was cut off is longer than any rule.
const SCRATCH_LENGTH: usize = MAX_RULE_LENGTH + 2;

/// What stands for a number that there is not.
const NONE: u32 = u32::MAX;

/// A set of rules, which are collected and then compiled, and the buffers that JavaScript writes.
#[wasm_bindgen]
pub struct RuleSet {
    rules: HeaderSetBuilder,
    set: HeaderSet<'static>,
    scratch: [u8; SCRATCH_LENGTH],
    block: Vec<u8>,
    numbers: [u32; 10],
    fault: Fault,
}

#[wasm_bindgen]
impl RuleSet {
    /// No rules yet.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no other way")]
    pub fn new() -> Self {
        let rules = HeaderSetBuilder::new();
        let set = rules.build();
        let (scratch, block) = ([0; SCRATCH_LENGTH], Vec::new());
        Self { rules, set, scratch, block, numbers: [0; 10], fault: Fault::default() }
    }

    /// Adds the rule in the first `length` bytes of the scratch buffer; if it is refused, a fault
    /// says why.
    pub fn add(&mut self, length: usize) -> bool {
        let rule = self.scratch.get(..length).unwrap_or_default();
        let refused = self.rules.rule_bytes(rule).err();
        if let Some(error) = refused {
            self.fault = error.fault();
        }
        refused.is_none()
    }

    /// Compiles the rules, which are used up.
    pub fn compile(&mut self) {
        self.set = core::mem::take(&mut self.rules).build();
    }

    /// Where ten numbers lie: the scratch buffer's pointer and length; the probe's pointer and
    /// length; the length of the shortest prefix; whether `Connection` is stripped; and of what was
    /// refused last the message's pointer and length, the byte that was found, and where. The last
    /// two may be missing, which is `u32::MAX`.
    pub fn numbers(&mut self) -> *const u32 {
        let probe = self.set.probe();
        let fault = self.fault;
        self.numbers = [
            self.scratch.as_ptr() as u32,
            self.scratch.len() as u32,
            probe.table().as_ptr() as u32,
            probe.table().len() as u32,
            probe.shortest_prefix() as u32,
            u32::from(self.set.strips_connection()),
            fault.message.as_ptr() as u32,
            fault.message.len() as u32,
            fault.byte.map_or(NONE, u32::from),
            fault.offset.map_or(NONE, |offset| offset as u32),
        ];
        self.numbers.as_ptr()
    }

    /// Whether a rule matches the first `length` bytes of the scratch buffer.
    pub fn matches(&self, length: usize) -> bool {
        self.scratch.get(..length).is_some_and(|name| self.set.matches(name))
    }

    /// Makes room for a block of `length` bytes, and says where to write it: nowhere if there is no
    /// memory for it. A length of 0 gives the memory back.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        if length > self.block.len() || length == 0 {
            self.block = Vec::new();
            if self.block.try_reserve_exact(length).is_err() {
                return core::ptr::null();
            }
            self.block.resize(length, 0);
        }
        self.block.as_ptr()
    }

    /// Strips the field block of `length` bytes that was written, and returns the length of what is
    /// left of it; -1 if it is refused, and a fault says why.
    pub fn strip_block(&mut self, length: usize) -> i32 {
        match self.set.strip_block(self.block.get_mut(..length).unwrap_or_default()) {
            Ok(length) => length as i32,
            Err(error) => {
                self.fault = error.fault();
                -1
            }
        }
    }

    /// Takes the `Connection` value of `length` bytes that was written, of which the last is a comma, and
    /// puts in its place the fields that it nominates and no rule matches: each ends in a comma, or in a
    /// colon if no sender may nominate it. Returns their length; -1 if there is no memory for them.
    pub fn nominated(&mut self, length: usize) -> i32 {
        let value = self.block.get(..length).unwrap_or_default();
        let mut nominated = Vec::new();
        if nominated.try_reserve_exact(value.len()).is_err() {
            return -1;
        }
        for option in connection_options(value) {
            let end = match nomination(option, b"") {
                Nomination::Keeps => continue,
                Nomination::Removes => b',',
                Nomination::Forbidden => b':',
            };
            if !self.set.matches(option) {
                nominated.extend_from_slice(option);
                nominated.push(end);
            }
        }
        self.block[..nominated.len()].copy_from_slice(&nominated);
        nominated.len() as i32
    }
}
