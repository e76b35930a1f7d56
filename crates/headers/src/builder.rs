//! Collecting rules, and compiling them into an image.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use crate::{
    HeaderSet, Rule, RuleError,
    layout::{NODE_LENGTH, Numbers, SlotBits},
    probe,
    rule::MAX_RULES,
    rule_table, trie,
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
    rules: RuleTexts,
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
    /// [`MAX_RULE_LENGTH`](crate::MAX_RULE_LENGTH), or is one more than [`MAX_RULES`]. The builder
    /// is then as it was.
    ///
    /// # Complexity
    ///
    /// O(log *n*) comparisons for *n* rules that the builder holds.
    pub fn rule(&mut self, rule: &str) -> Result<&mut Self, RuleError> {
        let rule = Rule::parse(rule)?;
        let entry = (rule.text().to_ascii_lowercase(), matches!(rule, Rule::Prefix(_)));
        if self.rules.len() == MAX_RULES && !self.rules.contains(&entry) {
            return Err(RuleError::TOO_MANY);
        }
        self.rules.insert(entry);
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
        let rules: Vec<Rule<'_>> = self
            .rules
            .iter()
            .map(
                |(text, is_prefix)| {
                    if *is_prefix { Rule::Prefix(text) } else { Rule::Exact(text) }
                },
            )
            .collect();
        compile(&rules, NativeTables::of)
    }
}

/// The texts of rules in lower case, in the order of the image; `true` marks a prefix.
pub(crate) type RuleTexts = BTreeSet<(String, bool)>;

/// What stands for a field name among the texts of rules.
pub(crate) fn exact_key(name: &[u8]) -> (String, bool) {
    (name.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect(), false)
}

/// Compiles rules that are sorted by text, names before prefixes.
fn compile(
    rules: &[Rule<'_>],
    native_tables: fn(&[Rule<'_>], usize) -> NativeTables,
) -> HeaderSet<'static> {
    let shortest_prefix = shortest_prefix(rules);
    let native = native_tables(rules, shortest_prefix);
    let (probe, probe_bits, places) = probe::build(rules, shortest_prefix);
    let nodes = trie::write(rules);
    let (records, text) = rule_table::write(rules);
    let numbers = Numbers {
        slot_bits: native.slot_bits,
        gate_bits: native.gate_bits,
        probe_bits,
        places,
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
fn shortest_prefix(rules: &[Rule<'_>]) -> usize {
    let mut shortest = 0;
    for rule in rules {
        if let Rule::Prefix(prefix) = rule
            && (shortest == 0 || prefix.len() < shortest)
        {
            shortest = prefix.len();
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
    fn of(_: &[Rule<'_>], _: usize) -> Self {
        Self::default()
    }

    #[cfg(feature = "front")]
    fn of(rules: &[Rule<'_>], shortest_prefix: usize) -> Self {
        let mut names = Vec::new();
        let mut prefixes = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            match rule {
                Rule::Exact(name) => names.push((name.as_bytes(), number as u16)),
                Rule::Prefix(prefix) => prefixes.push(prefix.as_bytes()),
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
        let rules = [Rule::Prefix("cf-int-"), Rule::Exact("te"), Rule::Exact("x-internal-debug")];
        let small = compile(&rules, |_, _| NativeTables::default());
        let fast = compile(&rules, NativeTables::of);
        let read = HeaderSet::from_image(small.image()).expect("a valid image");
        assert!(small.image().len() < fast.image().len());
        for name in ["", "te", "TE", "tf", "cf-int-", "CF-Int-Colo", "cf-in", "x-internal-debug"] {
            let expected = rules.iter().any(|rule| rule.matches(name.as_bytes()));
            for set in [&small, &fast, &read] {
                assert_eq!(set.matches(name.as_bytes()), expected, "{name}");
            }
        }
    }
}
