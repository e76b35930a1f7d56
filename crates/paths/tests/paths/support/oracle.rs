//! A naive implementation: the documented formulas, with third-party XXH64, JSON and Base64.

use std::ops::Range;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use xxhash_rust::xxh64::xxh64;

/// Returns the bits of a key in a filter.
pub fn bits(key: &[u8], m: u64, k: u64, s: u64) -> impl Iterator<Item = usize> {
    let (h1, h2) = (u128::from(xxh64(key, s)), u128::from(xxh64(key, s.wrapping_add(1))));
    (0..u128::from(k)).map(move |i| ((h1 + i * h2) % (1 << 64) % u128::from(m)) as usize)
}

/// Returns the slots of a key in a fuse filter, and its fingerprint.
pub fn slots(key: &[u8], m: u64, l: u64, q: u64, s: u64) -> ([usize; 3], u32) {
    let (m, l, h) = (u128::from(m), u128::from(l), u128::from(xxh64(key, s)));
    let product = h * u128::from(q) % (1 << 64);
    let (high, low) = (product >> 32, product % (1 << 32));
    let (start, rest) = ((high * (m / l - 2)) >> 32, (high * (m / l - 2)) % (1 << 32));
    let offsets = [(rest * l) >> 32, (low * l) >> 32, ((low * l % (1 << 32)) * l) >> 32];
    let slots = [0, 1, 2].map(|index| (start + index) * l + offsets[index as usize]);
    (slots.map(|slot| slot as usize), (h >> 40) as u32)
}

/// A filter read with third-party JSON and Base64.
pub struct Filter {
    pub header: Value,
    bytes: Vec<u8>,
}

impl Filter {
    pub fn read(file: &[u8]) -> Self {
        let text = std::str::from_utf8(file).expect("a filter is UTF-8");
        let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON Lines"));
        let header = lines.next().expect("a first line");
        let body: Value = lines.next().expect("a second line");
        let bytes = STANDARD.decode(body.as_str().expect("a string")).expect("Base64");
        assert!(lines.next().is_none());
        Self { header, bytes }
    }

    pub fn number(&self, name: &str) -> u64 {
        let kind = if self.is_fuse() { "fuse" } else { "bloom" };
        self.header[kind][name].as_u64().expect("a number")
    }

    fn is_fuse(&self) -> bool {
        self.header["fuse"].is_object()
    }

    pub fn has(&self, key: &[u8]) -> bool {
        if self.is_fuse() {
            let [m, l, q, s] = ["m", "l", "q", "s"].map(|name| self.number(name));
            let (slots, fingerprint) = slots(key, m, l, q, s);
            let sum = slots.iter().fold(0, |sum, slot| sum ^ self.slot(*slot));
            return sum == fingerprint;
        }
        bits(key, self.number("m"), self.number("k"), self.number("s"))
            .all(|bit| self.bytes[bit / 8] >> (7 - bit % 8) & 1 == 1)
    }

    fn slot(&self, slot: usize) -> u32 {
        self.bytes[3 * slot..][..3].iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
    }

    pub fn bits_set(&self) -> u64 {
        let bits = if self.is_fuse() { 24 } else { 1 } * self.number("m") as usize;
        self.set(0..bits)
    }

    /// Returns the number of bits set after the last one.
    pub fn set_beyond_m(&self) -> u64 {
        self.set(self.number("m") as usize..self.bytes.len() * 8)
    }

    fn set(&self, range: Range<usize>) -> u64 {
        range.filter(|bit| self.bytes[bit / 8] >> (7 - bit % 8) & 1 == 1).count() as u64
    }
}

/// Returns the bits of a filter of `keys` in Base64.
pub fn body(keys: &[Vec<u8>], m: u64, k: u64, s: u64) -> String {
    let mut bytes = vec![0_u8; m.div_ceil(8) as usize];
    for key in keys {
        for bit in bits(key, m, k, s) {
            bytes[bit / 8] |= 0x80 >> (bit % 8);
        }
    }
    STANDARD.encode(bytes)
}
