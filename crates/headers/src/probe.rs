//! A table for hosts that hold names as their own strings, such as JavaScript.
//!
//! Copying a string into linear memory costs more than any lookup. The probe avoids the copy: the
//! length of a name and two of its characters, read in the host, select a slot of a table in the
//! image. An empty slot is a certain miss; any other leads to the few rules that the name may match,
//! with which the host compares it. If there are prefix rules, two characters of the beginning of the
//! name select another slot of the same table.
//!
//! The characters are at one half and at seven eighths of the length: names of one length mostly
//! differ there, and every name has these positions, so a host needs no bounds check.
//!
//! Every rule is in the slot that the names it matches select, so the probe decides exactly what
//! [`HeaderSet::find`](crate::HeaderSet::find) decides.

use alloc::{vec, vec::Vec};

use crate::{
    bytes::u16_at,
    image_error::ImageError,
    layout::{CHAIN_LENGTH, MAX_PROBE_BITS, MIN_PROBE_BITS, PROBE_SLOT_LENGTH},
    rule_table::RuleTable,
};

/// Slots in the table per rule.
const SLOTS_PER_RULE: usize = 16;
/// 2^32 divided by the golden ratio: Knuth's multiplier for multiplicative hashing.
const MULTIPLIER: u32 = 0x9e37_79b1;

/// A table with which a host matches its own strings. Returned by
/// [`HeaderSet::probe`](crate::HeaderSet::probe).
///
/// With `fold(c) = c | 0x20`, all arithmetic modulo 2^32 and division rounding down, a name of
/// `length` characters selects the slot
///
/// ```text
/// a    = name[length / 2]
/// b    = name[length * 7 / 8]
/// slot = ((length << 14 ^ fold(a) << 7 ^ fold(b)) * 0x9e3779b1) >> (32 - log2(slots))
/// ```
///
/// For prefix rules, the beginning of a name, as long as the shortest prefix rule, selects a second
/// slot by the same formula with 0 in place of `length << 14`. An empty name selects no first slot,
/// and a name shorter than the shortest prefix rule selects no second one.
///
/// A slot has two bytes, little-endian: 0, or one more than the number of a rule. The chain of a rule
/// has two bytes as well: 0, or one more than the number of the next rule of the same slot, which is
/// lower.
///
/// # Example
///
/// ```
/// use hedgerow_headers::HeaderSetBuilder;
///
/// let set = HeaderSetBuilder::new().rules(["x-debug", "cf-int-*"])?.build();
/// let probe = set.probe();
/// assert!(probe.candidates(b"X-Debug").eq([1]));
/// assert!(probe.candidates(b"cf-int-brand-id").eq([0]));
/// assert_eq!(probe.candidates(b"accept-encoding").count(), 0);
///
/// // A host reads these in the image:
/// assert!(probe.slots().len().is_power_of_two());
/// assert_eq!(probe.chains().len(), 2 * set.len());
/// assert_eq!(probe.shortest_prefix(), "cf-int-".len());
/// # Ok::<(), hedgerow_headers::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Probe<'a> {
    pub(crate) slots: &'a [u8],
    pub(crate) chains: &'a [u8],
    pub(crate) shortest_prefix: usize,
}

impl<'a> Probe<'a> {
    /// Returns the slots, two bytes each. Their number is a power of two.
    #[must_use]
    pub fn slots(&self) -> &'a [u8] {
        self.slots
    }

    /// Returns the chains of the rules, two bytes each.
    #[must_use]
    pub fn chains(&self) -> &'a [u8] {
        self.chains
    }

    /// Returns the length of the shortest prefix rule, or 0 if there is none.
    #[must_use]
    pub fn shortest_prefix(&self) -> usize {
        self.shortest_prefix
    }

    /// Returns whether `name` may match a rule.
    ///
    /// # Complexity
    ///
    /// Constant: reads at most four characters and two slots, whatever the name and the rules.
    #[must_use]
    pub fn admits(&self, name: &[u8]) -> bool {
        self.heads(name) != [0; 2]
    }

    /// Iterates over the numbers of the rules that `name` may match, among which are all that it does
    /// match. A rule may come twice. This is the reference for implementations in hosts.
    ///
    /// # Complexity
    ///
    /// Linear in the number of candidates, mostly none or one.
    pub fn candidates(&self, name: &[u8]) -> impl Iterator<Item = usize> + use<'a> {
        let chains = self.chains;
        self.heads(name).into_iter().flat_map(move |head| {
            let rules = core::iter::successors(Some(head), move |&rule| {
                Some(u16_at(chains, usize::from(rule.checked_sub(1)?) * CHAIN_LENGTH))
            });
            rules.take_while(|&rule| rule != 0).map(|rule| usize::from(rule) - 1)
        })
    }

    /// Returns the slots that `name` selects; 0 for one that it does not select.
    fn heads(&self, name: &[u8]) -> [u16; 2] {
        let exact = if name.is_empty() { 0 } else { self.slot(exact_key(name)) };
        let beginning = name.get(..self.shortest_prefix).filter(|it| !it.is_empty());
        [exact, beginning.map_or(0, |it| self.slot(prefix_key(it)))]
    }

    fn slot(&self, key: u32) -> u16 {
        let bits = (self.slots.len() / PROBE_SLOT_LENGTH).ilog2() as u8;
        u16_at(self.slots, slot_of(key, bits) * PROBE_SLOT_LENGTH)
    }

    /// Checks that slots and chains lead to rules only, and that every chain ends. `offsets` are those
    /// of the two sections.
    pub(crate) fn validate(self, offsets: [usize; 2]) -> Result<(), ImageError> {
        let rules = self.chains.len() / CHAIN_LENGTH;
        let (slots, _) = self.slots.as_chunks::<PROBE_SLOT_LENGTH>();
        if slots.iter().any(|&slot| usize::from(u16::from_le_bytes(slot)) > rules) {
            return Err(ImageError::Field { field: "slot of the probe", offset: offsets[0] });
        }
        let (chains, _) = self.chains.as_chunks::<CHAIN_LENGTH>();
        let is_lower = |(rule, &next)| usize::from(u16::from_le_bytes(next)) <= rule;
        if !chains.iter().enumerate().all(is_lower) {
            return Err(ImageError::Field { field: "chain of a rule", offset: offsets[1] });
        }
        Ok(())
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

/// Returns the slot that a key selects in a table of 2^`bits` slots.
fn slot_of(key: u32, bits: u8) -> usize {
    (key.wrapping_mul(MULTIPLIER) >> (32 - bits)) as usize
}

/// The sections of a probe, and log2 of its number of slots.
pub(crate) struct ProbeSections {
    pub(crate) slots: Vec<u8>,
    pub(crate) chains: Vec<u8>,
    pub(crate) bits: u8,
}

/// Builds the sections for `rules`, whose shortest prefix has `shortest` bytes.
pub(crate) fn build(rules: RuleTable<'_>, shortest: usize) -> ProbeSections {
    let bits = ((rules.len() * SLOTS_PER_RULE).next_power_of_two().ilog2() as u8)
        .clamp(MIN_PROBE_BITS, MAX_PROBE_BITS);
    let mut slots = vec![0; PROBE_SLOT_LENGTH << bits];
    let mut chains = Vec::with_capacity(rules.len() * CHAIN_LENGTH);
    for rule in 0..rules.len() {
        let text = rules.text(rule);
        let key =
            if rules.is_prefix(rule) { prefix_key(&text[..shortest]) } else { exact_key(text) };
        let slot = &mut slots[slot_of(key, bits) * PROBE_SLOT_LENGTH..][..PROBE_SLOT_LENGTH];
        chains.extend_from_slice(slot);
        slot.copy_from_slice(&(rule as u16 + 1).to_le_bytes());
    }
    ProbeSections { slots, chains, bits }
}
