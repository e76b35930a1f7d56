//! A table for hosts that hold names as strings of their own, such as JavaScript.
//!
//! Copying a string into linear memory costs more than any lookup. The probe needs none: a name's
//! length and two of its characters, read in place, choose one bit of a table that lies in the
//! image, and a bit that is not set says that no name rule matches. Where there are prefix rules,
//! two characters of the beginning choose another bit of the same table.
//!
//! The characters are those in the middle and at seven eighths: names of one length mostly differ
//! there, and these places lie in every name, so that a host needs no branch to stay inside.
//!
//! Every rule sets the bits that names it matches choose, so a miss is certain; a candidate is
//! for [`HeaderSet::matches`](crate::HeaderSet::matches) to confirm.

use alloc::{vec, vec::Vec};

use crate::{
    layout::{MAX_TABLE_BITS, MIN_TABLE_BITS},
    rule_table::RuleTable,
};

/// Bits in the table for each rule.
const BITS_PER_RULE: usize = 64;
/// 2^32 divided by the golden ratio, as Knuth proposes for multiplicative hashing.
const MULTIPLIER: u32 = 0x9e37_79b1;

/// What a host needs to decide misses on its own strings; see
/// [`HeaderSet::probe`](crate::HeaderSet::probe).
///
/// With `fold(c) = c | 0x20`, all arithmetic modulo 2^32 and division rounding down, a name of
/// `length` characters chooses the bit
///
/// ```text
/// a   = name[length / 2]
/// b   = name[length * 7 / 8]
/// bit = ((length << 14 ^ fold(a) << 7 ^ fold(b)) * 0x9e3779b1) >> (32 - log2(bits))
/// ```
///
/// and, as the beginning of a prefix rule, that of the two characters that it would be for a name as
/// long as the shortest prefix rule, with 0 in place of `length << 14`. Bit `i` of the table is bit
/// `i % 8` of byte `i / 8`. An empty name, and a beginning of fewer characters than the shortest
/// prefix rule, choose none.
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
/// // What a host reads where the image lies:
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
    /// The table. Its length is a power of two.
    #[must_use]
    pub fn table(&self) -> &'a [u8] {
        self.table
    }

    /// The length of the shortest prefix rule; 0 where there is none.
    #[must_use]
    pub fn shortest_prefix(&self) -> usize {
        self.shortest_prefix
    }

    /// Whether `name` may match: the definition that a host's own probe must agree with.
    ///
    /// # Complexity
    ///
    /// Constant: at most four characters and two bits are read, whatever the name and the rules.
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

/// What two characters of a text choose.
fn prefix_key(text: &[u8]) -> u32 {
    let at = |place: usize| u32::from(text[place] | 0x20);
    at(text.len() / 2) << 7 ^ at(text.len() * 7 / 8)
}

/// The bit of a table of 2^`bits` bits that a key chooses.
fn slot(key: u32, bits: u8) -> usize {
    (key.wrapping_mul(MULTIPLIER) >> (32 - bits)) as usize
}

/// Builds the section for `rules`, of which the shortest prefix has `shortest` bytes: its bits, and
/// their number as a power of two.
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
