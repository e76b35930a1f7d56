//! A table for hosts that hold names as strings of their own, such as JavaScript.
//!
//! Copying a string into linear memory costs more than any lookup. The probe needs none: a name's
//! length and two of its characters, read in place, choose one bit of a table that lies in the
//! image, and a bit that is not set says that no name rule matches. Where there are prefix rules,
//! two characters of the beginning choose another bit of the same table. The places of the
//! characters are those that tell the set's rules apart best.
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
/// How far from either end a place may be: few names are shorter, so that a host's branch on whether
/// this one is can be predicted.
const FARTHEST: u8 = 5;
/// How far into a prefix a place may be.
const FARTHEST_IN_PREFIX: u8 = 15;
/// How many rules the choice of places looks at.
const SAMPLE: usize = 512;
/// The size of the table that counts how often they share a key, as a power of two.
const COUNT_BITS: u8 = 12;
/// 2^32 divided by the golden ratio, as Knuth proposes for multiplicative hashing.
const MULTIPLIER: u32 = 0x9e37_79b1;

/// Which characters of a name are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The first character, counted from the start; the last one of a name that is shorter.
    pub from_start: u8,
    /// The second character, counted back from the end (0 is the last character); the first one of
    /// a name that is shorter.
    pub from_end: u8,
    /// The first character of a prefix, counted from the start, less than the shortest prefix.
    pub prefix_first: u8,
    /// The second character of a prefix, likewise.
    pub prefix_second: u8,
}

/// What a host needs to decide misses on its own strings; see
/// [`HeaderSet::probe`](crate::HeaderSet::probe).
///
/// With `fold(c) = c | 0x20`, `a` and `b` the characters at their places, and all arithmetic
/// modulo 2^32, a name of `length` characters chooses the bit
///
/// ```text
/// bit = ((length << 14 ^ fold(a) << 7 ^ fold(b)) * 0x9e3779b1) >> (32 - log2(bits))
/// ```
///
/// and, as the beginning of a prefix rule, the same with a length of 0. Bit `i` of the table is bit
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
    pub(crate) places: Places,
    pub(crate) shortest_prefix: usize,
}

impl<'a> Probe<'a> {
    /// The table. Its length is a power of two.
    #[must_use]
    pub fn table(&self) -> &'a [u8] {
        self.table
    }

    /// Which characters are read.
    #[must_use]
    pub fn places(&self) -> Places {
        self.places
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

    /// Whether the places in a prefix lie inside the shortest.
    pub(crate) fn is_valid(&self) -> bool {
        let Places { prefix_first, prefix_second, .. } = self.places;
        self.shortest_prefix == 0
            || usize::from(prefix_first.max(prefix_second)) < self.shortest_prefix
    }

    fn admits_exact(&self, name: &[u8]) -> bool {
        !name.is_empty() && self.bit(exact_key(name, self.places))
    }

    fn admits_prefix(&self, name: &[u8]) -> bool {
        self.shortest_prefix != 0
            && name.len() >= self.shortest_prefix
            && self.bit(prefix_key(name, self.places))
    }

    fn bit(&self, key: u32) -> bool {
        let bit = slot(key, self.table.len().ilog2() as u8 + 3);
        self.table[bit / 8] >> (bit % 8) & 1 != 0
    }
}

fn exact_key(name: &[u8], places: Places) -> u32 {
    let last = name.len() - 1;
    let first = name[usize::from(places.from_start).min(last)];
    let second = name[last.saturating_sub(usize::from(places.from_end))];
    key(name.len(), first, second)
}

fn prefix_key(name: &[u8], places: Places) -> u32 {
    key(0, name[usize::from(places.prefix_first)], name[usize::from(places.prefix_second)])
}

fn key(length: usize, first: u8, second: u8) -> u32 {
    let fold = |byte: u8| u32::from(byte | 0x20);
    (length as u32) << 14 ^ fold(first) << 7 ^ fold(second)
}

/// The bit of a table of 2^`bits` bits that a key chooses.
fn slot(key: u32, bits: u8) -> usize {
    (key.wrapping_mul(MULTIPLIER) >> (32 - bits)) as usize
}

/// Builds the section for `rules`, of which the shortest prefix has `shortest` bytes (0: there is
/// none): its bits, their number as a power of two, and the places.
pub(crate) fn build(rules: RuleTable<'_>, shortest: usize) -> (Vec<u8>, u8, Places) {
    let places = choose_places(rules, shortest);
    let bits = ((rules.len() * BITS_PER_RULE).next_power_of_two().ilog2() as u8)
        .clamp(MIN_TABLE_BITS, MAX_TABLE_BITS);
    let mut table = vec![0; 1 << (bits - 3)];
    for rule in 0..rules.len() {
        let bit = slot(rule_key(rules, rule, places), bits);
        table[bit / 8] |= 1 << (bit % 8);
    }
    (table, bits, places)
}

fn rule_key(rules: RuleTable<'_>, rule: usize, places: Places) -> u32 {
    let key = if rules.is_prefix(rule) { prefix_key } else { exact_key };
    key(rules.text(rule), places)
}

/// Chooses the places with which the fewest rules share a key.
fn choose_places(rules: RuleTable<'_>, shortest: usize) -> Places {
    let (from_start, from_end) = best_pair(rules, false, FARTHEST);
    let inside = shortest.min(usize::from(FARTHEST_IN_PREFIX)) as u8;
    let (prefix_first, prefix_second) = best_pair(rules, true, inside);
    Places { from_start, from_end, prefix_first, prefix_second }
}

/// The two places below `farthest` with which the fewest pairs of rules of a kind share a key, as
/// far as a small table of counts tells keys apart.
fn best_pair(rules: RuleTable<'_>, are_prefixes: bool, farthest: u8) -> (u8, u8) {
    let step = rules.len().div_ceil(SAMPLE).max(1);
    let mut counts = vec![0_u16; 1 << COUNT_BITS];
    let mut best = (u32::MAX, (0, 0));
    for number in 0..farthest * farthest {
        let (first, second) = (number / farthest, number % farthest);
        let places = Places {
            from_start: first,
            from_end: second,
            prefix_first: first,
            prefix_second: second,
        };
        counts.fill(0);
        let mut pairs = 0;
        for rule in (0..rules.len()).step_by(step) {
            if rules.is_prefix(rule) == are_prefixes {
                let count = &mut counts[slot(rule_key(rules, rule, places), COUNT_BITS)];
                *count += 1;
                pairs += u32::from(*count);
            }
        }
        if pairs < best.0 {
            best = (pairs, (first, second));
        }
    }
    best.1
}
