//! Rules for headers, compiled for JavaScript.

use alloc::vec::Vec;

use hedgerow_headers::{HeaderSetBuilder, Mode};
use wasm_bindgen::prelude::*;

/// Ends each rule. It is no part of UTF-8.
const END: u8 = 0xff;

/// Sentinel for "no value".
const NONE: u32 = u32::MAX;

/// Compiles rules, each of which ends in a byte 0xff. If it `keeps` what they match, the image is an
/// allow-list.
///
/// Returns the image. If a rule is rejected, returns a zero byte instead, then three little-endian
/// numbers of four bytes, which are the number of the rule, the byte that was found and its offset,
/// and then the message. The last two numbers are `u32::MAX` if there are none.
#[wasm_bindgen]
pub fn compile(rules: &[u8], keeps: bool) -> Vec<u8> {
    let mode = if keeps { Mode::Keep } else { Mode::Strip };
    let mut builder = HeaderSetBuilder::with_mode(mode);
    let mut rest = rules;
    let mut number: u32 = 0;
    while let Some(end) = rest.iter().position(|&byte| byte == END) {
        if let Err(error) = builder.rule_bytes(&rest[..end]) {
            let fault = error.fault();
            let byte = fault.byte.map_or(NONE, u32::from);
            let offset = fault.offset.map_or(NONE, |offset| offset as u32);
            let mut rejected = Vec::with_capacity(128);
            rejected.push(0);
            for value in [number, byte, offset] {
                rejected.extend_from_slice(&value.to_le_bytes());
            }
            rejected.extend_from_slice(fault.message.as_bytes());
            return rejected;
        }
        rest = &rest[end + 1..];
        number += 1;
    }
    builder.image()
}
