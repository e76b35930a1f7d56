//! The naive ways: one rule, one name and one line at a time.

use hedgerow_headers::{HeaderSet, Rule};

/// A list of rules, asked one after the other.
#[derive(Clone, Debug)]
pub struct Oracle<'a> {
    rules: Vec<Rule<'a>>,
}

impl<'a> Oracle<'a> {
    /// Rules that a builder takes, as it would be given them.
    pub fn new<R: AsRef<str>>(rules: &'a [R]) -> Self {
        let parse = |rule: &'a R| match rule.as_ref().strip_suffix('*') {
            Some(prefix) => Rule::Prefix(prefix),
            None => Rule::Exact(rule.as_ref()),
        };
        Self { rules: rules.iter().map(parse).collect() }
    }

    pub fn matches(&self, name: &[u8]) -> bool {
        self.rules.iter().any(|rule| rule.matches(name))
    }

    /// The text of the longest rule that matches, in lower case, and whether it is a prefix.
    pub fn find(&self, name: &[u8]) -> Option<(String, bool)> {
        self.rules
            .iter()
            .filter(|rule| rule.matches(name))
            .max_by_key(|rule| (rule.text().len(), !is_prefix(rule)))
            .map(described)
    }

    /// All rules in lower case, each once, a name before the prefix of the same text.
    pub fn sorted(&self) -> Vec<(String, bool)> {
        let mut rules: Vec<_> = self.rules.iter().map(described).collect();
        rules.sort();
        rules.dedup();
        rules
    }

    /// Whether a field goes: a rule matches it or, where `Connection` goes, one of `connections`,
    /// the values of all `Connection` fields, names it.
    pub fn removes(&self, name: &[u8], connections: &[&[u8]]) -> bool {
        let is_nominated = || {
            connections
                .iter()
                .flat_map(|value| value.split(|&byte| byte == b','))
                .any(|option| option.trim_ascii().eq_ignore_ascii_case(name))
        };
        self.matches(name) || self.matches(b"connection") && is_nominated()
    }

    /// A well-formed field block without the fields that go; `None` for any other.
    pub fn strip_block(&self, block: &[u8]) -> Option<Vec<u8>> {
        let (fields, end) = fields(block)?;
        let connections: Vec<&[u8]> = fields
            .iter()
            .filter(|field| field.name.eq_ignore_ascii_case(b"connection"))
            .map(|field| field.value)
            .collect();
        let stays = |field: &&Field<'_>| !self.removes(field.name, &connections);
        let kept = fields.iter().filter(stays).flat_map(|field| field.lines);
        Some(kept.chain(end).copied().collect())
    }

    /// Asserts that `set` strips `block` to what the naive way leaves, or refuses a malformed one
    /// and leaves it as it was.
    pub fn assert_strips_block(&self, set: &HeaderSet<'_>, block: &[u8]) {
        let mut stripped = block.to_vec();
        let result = set.strip_block(&mut stripped);
        match (result, self.strip_block(block)) {
            (Ok(length), Some(expected)) => assert_eq!(
                stripped[..length].escape_ascii().to_string(),
                expected.escape_ascii().to_string(),
            ),
            (Err(error), None) => {
                assert_eq!(stripped, block, "a refused block has changed");
                assert!(error.offset() <= block.len());
            }
            (result, expected) => {
                panic!("{result:?}, not {expected:?}, for {}", block.escape_ascii())
            }
        }
    }
}

/// A rule's text in lower case, and whether it is a prefix.
pub fn described(rule: &Rule<'_>) -> (String, bool) {
    (rule.text().to_ascii_lowercase(), is_prefix(rule))
}

fn is_prefix(rule: &Rule<'_>) -> bool {
    matches!(rule, Rule::Prefix(_))
}

/// Whether a field name may contain `byte`, as RFC 9110 §5.6.2 words it.
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

struct Field<'b> {
    name: &'b [u8],
    value: &'b [u8],
    /// All of the field's lines, with the CR LF of each.
    lines: &'b [u8],
}

/// The fields of a well-formed block and its closing empty line, if it has one.
fn fields(block: &[u8]) -> Option<(Vec<Field<'_>>, &[u8])> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    let mut rest = block;
    while !rest.is_empty() {
        if rest == b"\r\n" {
            break;
        }
        let field_start = block.len() - rest.len();
        let mut length = line_length(rest)?;
        while matches!(rest.get(length), Some(b' ' | b'\t')) {
            length += line_length(&rest[length..])?;
        }
        let lines = &block[field_start..][..length];
        let colon = lines.iter().position(|&byte| byte == b':')?;
        let (name, value) = (&lines[..colon], &lines[colon + 1..]);
        if name.is_empty() || !name.iter().all(|&byte| is_token(byte)) {
            return None;
        }
        fields.push(Field { name, value, lines });
        rest = &rest[length..];
    }
    Some((fields, rest))
}

/// The length of the first line with its CR LF; `None` if it has none, or a stray CR, LF or NUL.
fn line_length(text: &[u8]) -> Option<usize> {
    let end = text.windows(2).position(|pair| pair == b"\r\n")?;
    let is_clean = !text[..end].iter().any(|byte| b"\r\n\0".contains(byte));
    is_clean.then_some(end + 2)
}
