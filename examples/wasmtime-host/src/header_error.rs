//! Errors of rules and blocks that the module `block.wasm` rejected.

use std::{error::Error, fmt};

/// Sentinel of the module for "no value".
const NONE: u32 = u32::MAX;

/// The error of a rule that the module rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleError {
    /// The number of the rule in its list.
    pub rule: usize,
    /// Why it was rejected.
    pub reason: HeaderError,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}: {}", self.rule, self.reason)
    }
}

impl Error for RuleError {}

/// Why a rule or a block was rejected.
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
    /// Creates an error from the numbers of a module.
    pub(crate) fn new(message: String, byte: u32, offset: u32) -> Self {
        Self { message, byte: u8::try_from(byte).ok(), offset: (offset != NONE).then_some(offset) }
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
