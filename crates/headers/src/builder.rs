//! The builder, which collects rules and compiles them into an image.

use alloc::vec::Vec;

use crate::{
    ESSENTIAL, HeaderSet, Mode, RuleError, Spelling,
    layout::{ImageHeader, NODE_LENGTH, SlotBits},
    rule_list::RuleList,
    rule_table::RuleTable,
    trie,
};
#[cfg(feature = "front")]
use crate::{exact_table, hash::NameHasher, prefix_filter};

/// Collects rules and compiles them into a [`HeaderSet`].
///
/// A rule is a field name (`x-internal-token`) or a prefix of field names that ends in `*`
/// (`cf-int-*`). Case does not matter, and `-`, `_` and `.` are the same character, unless the
/// [`Spelling`] is exact or the set is an allow-list. Adding a rule twice has no effect.
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
    mode: Mode,
    rules: RuleList,
}

impl HeaderSetBuilder {
    /// Creates a builder without rules, of a set that strips what its rules match.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a builder without rules, of a set that strips the fields that its rules match with this
    /// spelling.
    #[must_use]
    pub fn with_spelling(spelling: Spelling) -> Self {
        Self { mode: Mode::Strip, rules: RuleList::new(spelling) }
    }

    /// Creates a builder of a set with this mode. With [`Mode::Keep`], it has a rule for each of the
    /// [`ESSENTIAL`] fields.
    ///
    /// # Example
    ///
    /// ```
    /// use hedgerow_headers::{HeaderSetBuilder, Mode};
    ///
    /// let mut builder = HeaderSetBuilder::with_mode(Mode::Keep);
    /// let set = builder.rules(["accept", "x-app-*"])?.build();
    /// let mut block = *b"Host: a.example\r\nX-Internal-User: 7\r\nX-App-Id: 1\r\n\r\n";
    /// let length = set.strip_block(&mut block)?;
    /// assert_eq!(&block[..length], b"Host: a.example\r\nX-App-Id: 1\r\n\r\n");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_mode(mode: Mode) -> Self {
        if mode == Mode::Strip {
            return Self::new();
        }
        let mut rules = RuleList::new(Spelling::Exact);
        for name in ESSENTIAL {
            rules.insert(name.as_bytes()).expect("a name");
        }
        Self { mode, rules }
    }

    /// Adds a rule.
    ///
    /// # Errors
    ///
    /// Returns an error, and leaves the builder unchanged, if the rule is empty or a lone `*`, has
    /// a `*` before its end or a character that is not a `token` character (RFC 9110 §5.6.2), is
    /// longer than [`MAX_RULE_LENGTH`](crate::MAX_RULE_LENGTH), or if the builder already holds
    /// [`MAX_RULES`](crate::MAX_RULES) rules.
    ///
    /// # Complexity
    ///
    /// O(log *n*) comparisons for *n* rules in the builder, and a move of at most 2 *n* bytes.
    pub fn rule(&mut self, rule: &str) -> Result<&mut Self, RuleError> {
        self.rule_bytes(rule.as_bytes())
    }

    /// Adds a rule given as bytes. Otherwise the same as [`rule`](Self::rule).
    ///
    /// # Errors
    ///
    /// The same as [`rule`](Self::rule).
    pub fn rule_bytes(&mut self, rule: &[u8]) -> Result<&mut Self, RuleError> {
        self.rules.insert(rule)?;
        Ok(self)
    }

    /// Adds several rules.
    ///
    /// # Errors
    ///
    /// Returns the error of [`rule`](Self::rule) for the first invalid rule. The rules before it
    /// stay added.
    pub fn rules<R: AsRef<str>>(
        &mut self,
        rules: impl IntoIterator<Item = R>,
    ) -> Result<&mut Self, RuleError> {
        for rule in rules {
            self.rule(rule.as_ref())?;
        }
        Ok(self)
    }

    /// Compiles the rules. The same rules give the same image, whatever the order they were added
    /// in.
    ///
    /// # Complexity
    ///
    /// O(*n* log *n*) for *n* rules. The image takes about 30 bytes per name and 200 per prefix, in
    /// addition to their text; without the feature `front`, about 25 per rule.
    #[must_use]
    pub fn build(&self) -> HeaderSet<'static> {
        let (records, text) = self.rules.sorted();
        let rules = RuleTable::of(&records, &text);
        let nodes = trie::write(rules);
        let native = NativeTables::of(rules);
        let header = ImageHeader {
            mode: self.mode,
            spelling: self.rules.spelling(),
            slot_bits: native.slot_bits,
            prefix_filter_bits: native.prefix_filter_bits,
            shortest_prefix: native.shortest_prefix,
            rules: rules.len() as u32,
            nodes: (nodes.len() / NODE_LENGTH) as u32,
            text_length: text.len() as u32,
            seed: native.seed,
        };
        let NativeTables { displacements, slots, prefix_filter, .. } = native;
        let image = header.write([&displacements, &slots, &prefix_filter, &nodes, &records, &text]);
        HeaderSet::from_parts(image, header)
    }
}

/// The tables for native lookups, of bytes and of `http` names. By default they are empty.
#[derive(Default)]
struct NativeTables {
    seed: u64,
    slot_bits: SlotBits,
    prefix_filter_bits: u8,
    shortest_prefix: u16,
    displacements: Vec<u8>,
    slots: Vec<u8>,
    prefix_filter: Vec<u8>,
}

impl NativeTables {
    #[cfg(not(feature = "front"))]
    fn of(_: RuleTable<'_>) -> Self {
        Self::default()
    }

    #[cfg(feature = "front")]
    fn of(rules: RuleTable<'_>) -> Self {
        let mut names = Vec::new();
        let mut prefixes = Vec::new();
        for rule in 0..rules.len() {
            if rules.is_prefix(rule) {
                prefixes.push(rules.text(rule));
            } else {
                names.push((rules.text(rule), rule as u16));
            }
        }
        let exact_table = exact_table::build(names.len(), |seed| {
            let hasher = NameHasher::new(seed);
            names.iter().map(|&(name, rule)| (hasher.hash(name), rule)).collect()
        });
        let shortest_prefix = prefixes.iter().map(|prefix| prefix.len()).min().unwrap_or(0);
        let (prefix_filter, prefix_filter_bits) = prefix_filter::build(&prefixes, shortest_prefix);
        Self {
            seed: exact_table.seed,
            slot_bits: exact_table.bits,
            prefix_filter_bits,
            shortest_prefix: shortest_prefix as u16,
            displacements: exact_table.displacements.as_flattened().to_vec(),
            slots: exact_table.slots.as_flattened().to_vec(),
            prefix_filter,
        }
    }
}
