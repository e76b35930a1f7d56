//! Collecting rules, and compiling them into an image.

use alloc::vec::Vec;

use crate::{
    HeaderSet, RuleError,
    layout::{NODE_LENGTH, Numbers, SlotBits},
    probe,
    rule_list::RuleList,
    rule_table::RuleTable,
    trie,
};
#[cfg(feature = "front")]
use crate::{front, gate, hash::NameHasher};

/// Collects rules and compiles them into a [`HeaderSet`].
///
/// A rule is a field name (`x-internal-token`) or a prefix of field names that ends in `*`
/// (`cf-int-*`), of either case. The same rule twice is one rule.
///
/// # Example
///
/// ```
/// use hedgerow_headers::{HeaderSetBuilder, presets};
///
/// let mut builder = HeaderSetBuilder::new();
/// builder.rule("x-internal-token")?.rules(presets::NEXT)?;
/// let set = builder.build();
/// assert!(set.matches(b"X-Middleware-Subrequest"));
/// assert!(!set.matches(b"accept"));
/// # Ok::<(), hedgerow_headers::RuleError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HeaderSetBuilder {
    rules: RuleList,
}

impl HeaderSetBuilder {
    /// A builder without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule.
    ///
    /// # Errors
    ///
    /// A rule that is empty, a lone `*`, has a `*` before its end, has a character that is not a
    /// `token` character (RFC 9110 §5.6.2), is longer than
    /// [`MAX_RULE_LENGTH`](crate::MAX_RULE_LENGTH), or is one more than
    /// [`MAX_RULES`](crate::MAX_RULES). The builder is then as it was.
    ///
    /// # Complexity
    ///
    /// O(log *n*) comparisons for *n* rules that the builder holds, and moving at most 2 *n* bytes.
    pub fn rule(&mut self, rule: &str) -> Result<&mut Self, RuleError> {
        self.rule_bytes(rule.as_bytes())
    }

    /// Adds a rule that is held as bytes. Otherwise like [`rule`](Self::rule).
    ///
    /// # Errors
    ///
    /// As for [`rule`](Self::rule).
    pub fn rule_bytes(&mut self, rule: &[u8]) -> Result<&mut Self, RuleError> {
        self.rules.insert(rule)?;
        Ok(self)
    }

    /// Adds rules one after the other.
    ///
    /// # Errors
    ///
    /// As for [`rule`](Self::rule), for the first rule that is refused; those before it are added.
    pub fn rules<R: AsRef<str>>(
        &mut self,
        rules: impl IntoIterator<Item = R>,
    ) -> Result<&mut Self, RuleError> {
        for rule in rules {
            self.rule(rule.as_ref())?;
        }
        Ok(self)
    }

    /// Compiles the rules. The same rules give the same image, in whatever order they came.
    ///
    /// # Complexity
    ///
    /// O(*n* log *n*) for *n* rules, and about 60 bytes a rule beside their text.
    #[must_use]
    pub fn build(&self) -> HeaderSet<'static> {
        compile(&self.rules, NativeTables::of)
    }
}

fn compile(
    rules: &RuleList,
    native_tables: fn(RuleTable<'_>, usize) -> NativeTables,
) -> HeaderSet<'static> {
    let (records, text) = rules.sorted();
    let rules = RuleTable::of(&records, &text);
    let shortest_prefix = shortest_prefix(rules);
    let native = native_tables(rules, shortest_prefix);
    let (probe, probe_bits) = probe::build(rules, shortest_prefix);
    let nodes = trie::write(rules);
    let numbers = Numbers {
        slot_bits: native.slot_bits,
        gate_bits: native.gate_bits,
        probe_bits,
        shortest_prefix: shortest_prefix as u16,
        rules: rules.len() as u32,
        nodes: (nodes.len() / NODE_LENGTH) as u32,
        text_length: text.len() as u32,
        seed: native.seed,
    };
    let NativeTables { displacements, slots, gate, .. } = native;
    let image = numbers.write([&displacements, &slots, &gate, &probe, &nodes, &records, &text]);
    HeaderSet::from_parts(image, numbers)
}

/// The length of the shortest prefix rule; 0 where there is none.
fn shortest_prefix(rules: RuleTable<'_>) -> usize {
    let mut shortest = 0;
    for rule in 0..rules.len() {
        let length = rules.text(rule).len();
        if rules.is_prefix(rule) && (shortest == 0 || length < shortest) {
            shortest = length;
        }
    }
    shortest
}

/// What makes lookups of bytes and of `http` names fast; by default there is none of it.
#[derive(Default)]
struct NativeTables {
    seed: u64,
    slot_bits: SlotBits,
    gate_bits: u8,
    displacements: Vec<u8>,
    slots: Vec<u8>,
    gate: Vec<u8>,
}

impl NativeTables {
    #[cfg(not(feature = "front"))]
    fn of(_: RuleTable<'_>, _: usize) -> Self {
        Self::default()
    }

    #[cfg(feature = "front")]
    fn of(rules: RuleTable<'_>, shortest_prefix: usize) -> Self {
        let mut names = Vec::new();
        let mut prefixes = Vec::new();
        for rule in 0..rules.len() {
            if rules.is_prefix(rule) {
                prefixes.push(rules.text(rule));
            } else {
                names.push((rules.text(rule), rule as u16));
            }
        }
        let front = front::build(names.len(), |seed| {
            let hasher = NameHasher::new(seed);
            names.iter().map(|&(name, rule)| (hasher.hash(name), rule)).collect()
        });
        let (gate, gate_bits) = gate::build(&prefixes, shortest_prefix);
        Self {
            seed: front.seed,
            slot_bits: front.bits,
            gate_bits,
            displacements: front.displacements.as_flattened().to_vec(),
            slots: front.slots.as_flattened().to_vec(),
            gate,
        }
    }
}

#[cfg(all(test, feature = "front"))]
mod tests {
    use super::*;

    #[test]
    fn a_set_without_the_native_tables_answers_the_same() {
        let mut builder = HeaderSetBuilder::new();
        builder.rules(["cf-int-*", "te", "x-internal-debug"]).expect("valid rules");
        let fast = builder.build();
        let small = compile(&builder.rules, |_, _| NativeTables::default());
        let read = HeaderSet::from_image(small.image()).expect("a valid image");
        assert!(small.image().len() < fast.image().len());
        for name in ["", "te", "TE", "tf", "cf-int-", "CF-Int-Colo", "cf-in", "x-internal-debug"] {
            let expected = fast.rules().any(|rule| rule.matches(name.as_bytes()));
            for set in [&small, &fast, &read] {
                assert_eq!(set.matches(name.as_bytes()), expected, "{name}");
            }
        }
    }
}
