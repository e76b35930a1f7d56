//! Rules for headers, in the module `headers.wasm`.

use std::{error::Error, fmt};

use wasmtime::Result;

use crate::EdgeModule;

/// Sentinel of the module for "no value".
const NONE: u32 = u32::MAX;
/// Ends each rule.
const END: u8 = 0xff;

/// Compiles rules, as an allow-list if it `keeps` what they match. Returns an image, which [`BlockStripper`](crate::BlockStripper) and the crate
/// `hedgerow-headers` read.
///
/// # Errors
///
/// Returns a [`RuleError`] if the module rejects a rule.
pub fn compile_rules<R: AsRef<[u8]>>(
    edge: &EdgeModule,
    rules: &[R],
    keeps: bool,
) -> Result<Vec<u8>> {
    let list: Vec<u8> = rules.iter().flat_map(|rule| [rule.as_ref(), &[END]].concat()).collect();
    let length = u32::try_from(list.len())?;
    let address: u32 = edge.call("__wbindgen_malloc", (length, 1))?;
    edge.write(address, &list)?;
    // The module frees the list.
    let (address, length): (u32, u32) =
        edge.call("compile", (address, length, u32::from(keeps)))?;
    let compiled = edge.read(address, length)?;
    edge.call::<_, ()>("__wbindgen_free", (address, length, 1))?;
    match compiled.strip_prefix(&[0]) {
        Some(rejected) => Err(RuleError::read(rejected).into()),
        None => Ok(compiled),
    }
}

/// The error of a rule that the module rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleError {
    /// The number of the rule in its list.
    pub rule: u32,
    /// Why it was rejected.
    pub reason: HeaderError,
}

impl RuleError {
    fn read(rejected: &[u8]) -> Self {
        let (numbers, message) = rejected.split_at(12);
        let number = |at: usize| u32::from_le_bytes(numbers[at..at + 4].try_into().unwrap());
        let message = String::from_utf8_lossy(message).into_owned();
        Self { rule: number(0), reason: HeaderError::new(message, number(4), number(8)) }
    }
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
    /// Creates an error of the numbers of a module.
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
