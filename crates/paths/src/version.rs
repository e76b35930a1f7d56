//! The version text, escaped for JSON.

use alloc::{format, string::String};

use crate::{build_error::BuildError, limits::MAX_HEADER_LENGTH};

/// Upper bound of the length of the first line without the version, in bytes.
const REST_OF_HEADER_LENGTH: usize = 160;

/// Checks that the first line has room for `text`.
pub(crate) fn check(text: &str) -> Result<(), BuildError> {
    let found = escaped(text).len() + REST_OF_HEADER_LENGTH;
    if found > MAX_HEADER_LENGTH { Err(BuildError::Version { found }) } else { Ok(()) }
}

/// Returns `text` as a JSON string, escaped as by `JSON.stringify`.
pub(crate) fn escaped(text: &str) -> String {
    let mut line = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            '\u{8}' => line.push_str("\\b"),
            '\u{c}' => line.push_str("\\f"),
            '\0'..' ' => line.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => line.push(character),
        }
    }
    line.push('"');
    line
}

/// Unescapes the text of a valid JSON string. A lone surrogate becomes U+FFFD.
pub(crate) fn unescape(mut text: &str) -> String {
    let mut plain = String::new();
    while let Some((before, escape)) = text.split_once('\\') {
        plain.push_str(before);
        let (unescaped, rest) = unescape_one(escape);
        plain.push(unescaped);
        text = rest;
    }
    plain.push_str(text);
    plain
}

/// Reads the escape at the beginning of `text`, which has no backslash. Returns its character and
/// the rest.
fn unescape_one(text: &str) -> (char, &str) {
    let (kind, rest) = text.split_at(1);
    let unescaped = match kind {
        "n" => '\n',
        "r" => '\r',
        "t" => '\t',
        "b" => '\u{8}',
        "f" => '\u{c}',
        "u" => return unicode(rest),
        _ => kind.chars().next().unwrap_or_default(),
    };
    (unescaped, rest)
}

/// Reads four hexadecimal digits, or a surrogate pair. Returns the character and the rest.
fn unicode(text: &str) -> (char, &str) {
    let (first, rest) = unit(text);
    let second = rest.strip_prefix("\\u").map(unit);
    if let (0xd800..0xdc00, Some((low @ 0xdc00..0xe000, after))) = (first, second) {
        let scalar = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(scalar).unwrap_or_default(), after);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), rest)
}

fn unit(text: &str) -> (u32, &str) {
    let (digits, rest) = text.split_at(4);
    (u32::from_str_radix(digits, 16).unwrap_or_default(), rest)
}
