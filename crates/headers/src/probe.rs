//! A table for hosts that hold names as their own strings, such as JavaScript.
//!
//! Copying a string into linear memory costs more than any lookup. The probe avoids the copy: the
//! length of a name and two of its characters, read in the host, select one bit of a table in the
//! image. If the bit is 0, no exact rule matches. If there are prefix rules, two characters of the
//! beginning of the name select another bit of the same table.
//!
//! The characters are at one half and at seven eighths of the length: names of one length mostly
//! differ there, and every name has these positions, so a host needs no bounds check.
//!
//! Every rule sets the bits that the names it matches select, so a miss is certain. A candidate has
//! to be confirmed by [`HeaderSet::matches`](crate::HeaderSet::matches).

use alloc::{vec, vec::Vec};

use crate::{
    layout::{MAX_TABLE_BITS, MIN_TABLE_BITS},
    rule_table::RuleTable,
};

/// Bits in the table per rule.
const BITS_PER_RULE: usize = 64;
/// 2^32 divided by the golden ratio: Knuth's multiplier for multiplicative hashing.
const MULTIPLIER: u32 = 0x9e37_79b1;

/// A table with which a host decides misses on its own strings. Returned by
/// [`HeaderSet::probe`](crate::HeaderSet::probe).
///
/// With `fold(c) = c | 0x20`, all arithmetic modulo 2^32 and division rounding down, a name of
/// `length` characters selects the bit
///
/// ```text
/// a   = name[length / 2]
/// b   = name[length * 7 / 8]
/// bit = ((length << 14 ^ fold(a) << 7 ^ fold(b)) * 0x9e3779b1) >> (32 - log2(bits))
/// ```
///
/// For prefix rules, the beginning of a name, as long as the shortest prefix rule, selects a second
/// bit by the same formula with 0 in place of `length << 14`. Bit `i` of the table is bit `i % 8` of
/// byte `i / 8`. An empty name selects no first bit, and a name shorter than the shortest prefix
/// rule selects no second one.
///
/// # Example
///
/// ```
/// use hedgerow_headers::HeaderSetBuilder;
///
/// let set = HeaderSetBuilder::new().rules(["x-debug", "cf-int-*"])?.build();
/// let probe = set.probe();
/// assert!(probe.admits(b"X-Debug"));
/// assert!(probe.admits(b"cf-int-brand-id"));
/// assert!(!probe.admits(b"accept-encoding"));
///
/// // A host reads these in the memory of the image:
/// assert!(probe.table().len().is_power_of_two());
/// assert_eq!(probe.shortest_prefix(), "cf-int-".len());
/// # Ok::<(), hedgerow_headers::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Probe<'a> {
    pub(crate) table: &'a [u8],
    pub(crate) shortest_prefix: usize,
}

impl<'a> Probe<'a> {
    /// Returns the table. Its length is a power of two.
    #[must_use]
    pub fn table(&self) -> &'a [u8] {
        self.table
    }

    /// Returns the length of the shortest prefix rule, or 0 if there is none.
    #[must_use]
    pub fn shortest_prefix(&self) -> usize {
        self.shortest_prefix
    }

    /// Returns whether `name` may match a rule. This is the reference for implementations in hosts.
    ///
    /// # Complexity
    ///
    /// Constant: reads at most four characters and two bits, whatever the name and the rules.
    #[must_use]
    pub fn admits(&self, name: &[u8]) -> bool {
        self.admits_exact(name) || self.admits_prefix(name)
    }

    fn admits_exact(&self, name: &[u8]) -> bool {
        !name.is_empty() && self.bit(exact_key(name))
    }

    fn admits_prefix(&self, name: &[u8]) -> bool {
        let beginning = name.get(..self.shortest_prefix);
        self.shortest_prefix != 0 && beginning.is_some_and(|it| self.bit(prefix_key(it)))
    }

    fn bit(&self, key: u32) -> bool {
        let bit = slot(key, self.table.len().ilog2() as u8 + 3);
        self.table[bit / 8] >> (bit % 8) & 1 != 0
    }
}

fn exact_key(name: &[u8]) -> u32 {
    (name.len() as u32) << 14 ^ prefix_key(name)
}

/// Returns the key of two characters of a text.
fn prefix_key(text: &[u8]) -> u32 {
    let at = |position: usize| u32::from(text[position] | 0x20);
    at(text.len() / 2) << 7 ^ at(text.len() * 7 / 8)
}

/// Returns the bit that a key selects in a table of 2^`bits` bits.
fn slot(key: u32, bits: u8) -> usize {
    (key.wrapping_mul(MULTIPLIER) >> (32 - bits)) as usize
}

/// Builds the section for `rules`, whose shortest prefix has `shortest` bytes. Returns the section
/// and log2 of its number of bits.
pub(crate) fn build(rules: RuleTable<'_>, shortest: usize) -> (Vec<u8>, u8) {
    let bits = ((rules.len() * BITS_PER_RULE).next_power_of_two().ilog2() as u8)
        .clamp(MIN_TABLE_BITS, MAX_TABLE_BITS);
    let mut table = vec![0; 1 << (bits - 3)];
    for rule in 0..rules.len() {
        let text = rules.text(rule);
        let key =
            if rules.is_prefix(rule) { prefix_key(&text[..shortest]) } else { exact_key(text) };
        let bit = slot(key, bits);
        table[bit / 8] |= 1 << (bit % 8);
    }
    (table, bits)
}
