//! Header stripping for JavaScript.
//!
//! Strings come in through a scratch buffer in linear memory that JavaScript writes with
//! `TextEncoder.encodeInto`; errors go out as strings, which JavaScript gives a code.

use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};

use hedgerow_headers::{
    HeaderSet, HeaderSetBuilder, MAX_RULE_LENGTH, Places, connection_options, presets,
};
use wasm_bindgen::prelude::*;

/// The longest name that is looked at in full. One byte longer than any rule, so that a name that
/// was cut off equals none.
const SCRATCH_LENGTH: usize = MAX_RULE_LENGTH + 1;

/// The longest field block: far beyond what any HTTP server takes.
const MAX_BLOCK_LENGTH: usize = 1 << 24;

/// A block buffer that grew beyond this is given back after use.
const KEPT_BLOCK_LENGTH: usize = 1 << 16;

/// Collects rules.
#[wasm_bindgen]
#[derive(Default)]
pub struct HeaderRules(HeaderSetBuilder);

#[wasm_bindgen]
impl HeaderRules {
    /// No rules yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: &str) -> Result<(), JsValue> {
        self.0.rule(rule).map(drop).map_err(|error| message(&error))
    }

    /// Compiles the rules, which are used up.
    pub fn compile(self) -> CompiledHeaders {
        CompiledHeaders { set: self.0.build(), scratch: vec![0; SCRATCH_LENGTH], block: Vec::new() }
    }
}

/// A compiled set of rules, and the buffers that JavaScript writes.
#[wasm_bindgen]
pub struct CompiledHeaders {
    set: HeaderSet<'static>,
    scratch: Vec<u8>,
    block: Vec<u8>,
}

#[wasm_bindgen]
impl CompiledHeaders {
    /// What JavaScript reads in place: the scratch buffer's pointer and length; the probe's pointer
    /// and length; its places from the start, from the end, and two in a prefix; the length of the
    /// shortest prefix; whether `Connection` is stripped.
    pub fn layout(&self) -> Vec<u32> {
        let probe = self.set.probe();
        let Places { from_start, from_end, prefix_first, prefix_second, .. } = probe.places();
        vec![
            self.scratch.as_ptr() as u32,
            self.scratch.len() as u32,
            probe.table().as_ptr() as u32,
            probe.table().len() as u32,
            u32::from(from_start),
            u32::from(from_end),
            u32::from(prefix_first),
            u32::from(prefix_second),
            probe.shortest_prefix() as u32,
            u32::from(self.set.strips_connection()),
        ]
    }

    /// Whether a rule matches the first `length` bytes of the scratch buffer.
    pub fn matches(&self, length: usize) -> bool {
        self.scratch.get(..length).is_some_and(|name| self.set.matches(name))
    }

    /// The fields that a `Connection` value nominates and no rule matches, in lower case, with a
    /// comma after each.
    pub fn nominated(&self, value: &str) -> String {
        let mut nominated = Vec::new();
        for option in connection_options(value.as_bytes()) {
            if !self.set.matches(option) {
                nominated.extend_from_slice(option);
                nominated.push(b',');
            }
        }
        nominated.make_ascii_lowercase();
        String::from_utf8(nominated).unwrap_or_default()
    }

    /// Makes room for a field block of `length` bytes, and says where to write it.
    pub fn reserve_block(&mut self, length: usize) -> Result<u32, JsValue> {
        let missing = length.saturating_sub(self.block.len());
        if length > MAX_BLOCK_LENGTH || self.block.try_reserve_exact(missing).is_err() {
            return Err(JsValue::from_str(
                "expected at most 16 MiB, or more memory, found neither",
            ));
        }
        self.block.resize(length, 0);
        Ok(self.block.as_ptr() as u32)
    }

    /// Strips the field block that was written, and returns the length of what is left of it.
    pub fn strip_block(&mut self) -> Result<usize, JsValue> {
        self.set.strip_block(&mut self.block).map_err(|error| message(&error))
    }

    /// Gives back the memory of a large field block.
    pub fn release_block(&mut self) {
        if self.block.capacity() > KEPT_BLOCK_LENGTH {
            self.block = Vec::new();
        }
    }
}

/// The rules of a preset, each followed by a comma; none if there is no preset of that name.
#[wasm_bindgen]
pub fn preset(name: &str) -> String {
    let rules = match name {
        "hop-by-hop" => presets::HOP_BY_HOP,
        "cloudflare" => presets::CLOUDFLARE,
        "vercel" => presets::VERCEL,
        "next" => presets::NEXT,
        _ => &[],
    };
    let mut list = String::new();
    for rule in rules {
        list.push_str(rule);
        list.push(',');
    }
    list
}

fn message(error: &dyn core::fmt::Display) -> JsValue {
    JsValue::from_str(&error.to_string())
}
