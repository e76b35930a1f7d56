//! Rules for headers, compiled for JavaScript.
//!
//! Only numbers cross the boundary. Strings are in buffers in linear memory that JavaScript
//! writes and reads; [`RuleSet::numbers`] returns their addresses.

use alloc::vec::Vec;

use hedgerow_headers::{
    Fault, HeaderSet, HeaderSetBuilder, MAX_RULE_LENGTH, Nomination, connection_options, nomination,
};
use wasm_bindgen::prelude::*;

/// Length of the scratch buffer: the longest rule, its `*`, and one byte more, so that a truncated
/// text is longer than any rule.
const SCRATCH_LENGTH: usize = MAX_RULE_LENGTH + 2;

/// Sentinel for "no value".
const NONE: u32 = u32::MAX;

/// A set of rules, first collected and then compiled, and the buffers that JavaScript writes.
#[wasm_bindgen]
pub struct RuleSet {
    rules: HeaderSetBuilder,
    set: HeaderSet<'static>,
    scratch: [u8; SCRATCH_LENGTH],
    value: Vec<u8>,
    numbers: [u32; 12],
    fault: Fault,
}

#[wasm_bindgen]
impl RuleSet {
    /// Creates a set without rules.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no other way")]
    pub fn new() -> Self {
        let rules = HeaderSetBuilder::new();
        let set = rules.build();
        let (scratch, value) = ([0; SCRATCH_LENGTH], Vec::new());
        Self { rules, set, scratch, value, numbers: [0; 12], fault: Fault::default() }
    }

    /// Adds the rule in the first `length` bytes of the scratch buffer. Returns `false` and records a
    /// fault if the rule is rejected.
    pub fn add(&mut self, length: usize) -> bool {
        let rule = self.scratch.get(..length).unwrap_or_default();
        let rejected = self.rules.rule_bytes(rule).err();
        if let Some(error) = rejected {
            self.fault = error.fault();
        }
        rejected.is_none()
    }

    /// Compiles the rules, and consumes them.
    pub fn compile(&mut self) {
        self.set = core::mem::take(&mut self.rules).build();
    }

    /// Returns the address of twelve numbers: the address and the length of the scratch buffer, of
    /// the probe and of the image; the length of the shortest prefix; whether `Connection` is
    /// stripped; and the last fault: the address and the length of the message, the byte that was
    /// found, and the offset. The last two are `u32::MAX` if there are none.
    pub fn numbers(&mut self) -> *const u32 {
        let (probe, image) = (self.set.probe(), self.set.image());
        let fault = self.fault;
        self.numbers = [
            self.scratch.as_ptr() as u32,
            self.scratch.len() as u32,
            probe.table().as_ptr() as u32,
            probe.table().len() as u32,
            image.as_ptr() as u32,
            image.len() as u32,
            probe.shortest_prefix() as u32,
            u32::from(self.set.strips_connection()),
            fault.message.as_ptr() as u32,
            fault.message.len() as u32,
            fault.byte.map_or(NONE, u32::from),
            fault.offset.map_or(NONE, |offset| offset as u32),
        ];
        self.numbers.as_ptr()
    }

    /// Returns whether a rule matches the first `length` bytes of the scratch buffer.
    pub fn matches(&self, length: usize) -> bool {
        self.scratch.get(..length).is_some_and(|name| self.set.matches(name))
    }

    /// Makes room for a `Connection` value of `length` bytes. Returns the address to write it to, or null if the
    /// allocation fails. A length of 0 frees the memory.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        if length > self.value.len() || length == 0 {
            self.value = Vec::new();
            if self.value.try_reserve_exact(length).is_err() {
                return core::ptr::null();
            }
            self.value.resize(length, 0);
        }
        self.value.as_ptr()
    }

    /// Replaces the `Connection` value of `length` bytes in the buffer, which must end in a comma, by
    /// the fields that it nominates and no rule matches. Each ends in a comma, or in a colon if no
    /// sender may nominate it. Returns their length, or -1 if the allocation fails.
    pub fn nominated(&mut self, length: usize) -> i32 {
        let value = self.value.get(..length).unwrap_or_default();
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
        self.value[..nominated.len()].copy_from_slice(&nominated);
        nominated.len() as i32
    }
}
