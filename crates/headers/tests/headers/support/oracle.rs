//! Naive implementations: one rule, one name and one line at a time.

use hedgerow_headers::{HeaderSet, Mode, Rule, Spelling};

/// A list of rules, tested one by one.
#[derive(Clone, Debug)]
pub struct Oracle<'a> {
    mode: Mode,
    spelling: Spelling,
    rules: Vec<Rule<'a>>,
}

impl<'a> Oracle<'a> {
    /// Creates an oracle for rules that a builder accepts.
    pub fn new<R: AsRef<str>>(rules: &'a [R]) -> Self {
        Self::with_mode(Mode::Strip, rules)
    }

    pub fn with_mode<R: AsRef<str>>(mode: Mode, rules: &'a [R]) -> Self {
        let is_exact = mode == Mode::Keep;
        Self::of(mode, if is_exact { Spelling::Exact } else { Spelling::Equivalent }, rules)
    }

    pub fn of<R: AsRef<str>>(mode: Mode, spelling: Spelling, rules: &'a [R]) -> Self {
        let parse = |rule: &'a R| match rule.as_ref().strip_suffix('*') {
            Some(prefix) => Rule::Prefix(prefix),
            None => Rule::Exact(rule.as_ref()),
        };
        let mut rules: Vec<_> = rules.iter().map(parse).collect();
        if mode == Mode::Keep {
            rules.extend(ALWAYS_KEPT.map(Rule::Exact));
        }
        Self { mode, spelling, rules }
    }

    pub fn matches(&self, name: &[u8]) -> bool {
        self.rules.iter().any(|rule| self.is_match(rule, name))
    }

    /// Returns whether a field is removed, unless `Connection` nominates it.
    pub fn strips(&self, name: &[u8]) -> bool {
        match self.mode {
            Mode::Strip => self.matches(name),
            Mode::Keep => !(self.matches(name) || name.starts_with(b":")),
        }
    }

    /// Returns the text of the longest rule that matches, in lower case, and whether it is a prefix.
    pub fn find(&self, name: &[u8]) -> Option<(String, bool)> {
        self.rules
            .iter()
            .filter(|rule| self.is_match(rule, name))
            .max_by_key(|rule| (rule.text().len(), !is_prefix(rule)))
            .map(|rule| self.described(rule))
    }

    fn is_match(&self, rule: &Rule<'_>, name: &[u8]) -> bool {
        let (text, is_prefix) = self.described(rule);
        let name = self.folded(name);
        if is_prefix { name.starts_with(text.as_bytes()) } else { name == text.as_bytes() }
    }

    /// Returns the text of a rule, folded, and whether it is a prefix.
    fn described(&self, rule: &Rule<'_>) -> (String, bool) {
        let text = self.folded(rule.text().as_bytes());
        (String::from_utf8(text).expect("rules are ASCII"), is_prefix(rule))
    }

    /// Returns a name in lower case, with `-` for every equivalent character.
    fn folded(&self, name: &[u8]) -> Vec<u8> {
        match self.spelling {
            Spelling::Equivalent => folded(name),
            Spelling::Exact => name.to_ascii_lowercase(),
        }
    }

    /// Returns all rules in lower case, sorted, without duplicates. A name comes before the prefix
    /// with the same text.
    pub fn sorted(&self) -> Vec<(String, bool)> {
        let mut rules: Vec<_> = self.rules.iter().map(|rule| self.described(rule)).collect();
        rules.sort();
        rules.dedup();
        rules
    }

    /// Returns whether a field is removed: because the rules say so, or because they remove
    /// `Connection` and one of `connections`, the values of all `Connection` fields, nominates it.
    /// Returns `None` if the message is refused, because no sender may nominate the field.
    pub fn removes(&self, name: &[u8], value: &[u8], connections: &[&[u8]]) -> Option<bool> {
        let is_nominated = connections
            .iter()
            .flat_map(|value| value.split(|&byte| byte == b','))
            .any(|option| option.trim_ascii().eq_ignore_ascii_case(name));
        if self.strips(name) {
            return Some(true);
        }
        if !is_nominated || !self.strips(b"connection") {
            return Some(false);
        }
        let name = String::from_utf8_lossy(name).to_lowercase();
        let value = String::from_utf8_lossy(value.trim_ascii()).to_lowercase();
        let folded = name.replace(['_', '.'], "-");
        let is_for_all = folded.starts_with("x-forwarded-")
            || folded.starts_with("content-")
            || FOR_ALL.contains(&folded.as_str());
        let is_kept = name == "upgrade" || name == "te" && value == "trailers";
        (!is_for_all).then_some(!is_kept)
    }

    /// Returns a well-formed field block without the removed fields, or `None` if the block is
    /// refused.
    pub fn strip_block(&self, block: &[u8]) -> Option<Vec<u8>> {
        let (fields, end) = fields(block)?;
        let values = |name: &str| -> Vec<&[u8]> {
            let is_named = |field: &&Field<'_>| field.name.eq_ignore_ascii_case(name.as_bytes());
            fields.iter().filter(is_named).map(|field| field.value).collect()
        };
        let framings = values("content-length").len() + values("transfer-encoding").len().min(1);
        let connections = values("connection");
        let mut kept = Vec::new();
        for field in &fields {
            if !self.removes(field.name, field.value, &connections)? {
                kept.extend(field.lines);
            }
        }
        kept.extend(end);
        (framings < 2).then_some(kept)
    }

    /// Asserts that `set` strips `block` as the oracle does, or refuses it and leaves it unchanged.
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

/// The fields that an allow-list keeps without a rule.
const ALWAYS_KEPT: [&str; 4] = ["content-length", "transfer-encoding", "host", "connection"];

/// The fields that no sender may nominate, in addition to `Content-*` and `X-Forwarded-*`.
const FOR_ALL: &[&str] = &[
    "host",
    "cdn-loop",
    "transfer-encoding",
    "authorization",
    "cookie",
    "set-cookie",
    "cache-control",
    "forwarded",
    "via",
    "x-real-ip",
];

/// Returns a name in lower case, with `-` for `_` and `.`.
pub fn folded(name: &[u8]) -> Vec<u8> {
    let is_mark = |byte: &u8| b"_.".contains(byte);
    name.iter().map(|byte| if is_mark(byte) { b'-' } else { byte.to_ascii_lowercase() }).collect()
}

/// Returns the text of a rule in lower case, and whether it is a prefix.
pub fn described(rule: &Rule<'_>) -> (String, bool) {
    (rule.text().to_ascii_lowercase(), is_prefix(rule))
}

fn is_prefix(rule: &Rule<'_>) -> bool {
    matches!(rule, Rule::Prefix(_))
}

/// Returns whether a field name may contain `byte`, written after RFC 9110 §5.6.2.
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

struct Field<'b> {
    name: &'b [u8],
    value: &'b [u8],
    /// All of the field's lines, with the CR LF of each.
    lines: &'b [u8],
}

/// Returns the fields of a well-formed block and its closing empty line, if it has one.
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

/// Returns the length of the first line with its CR LF, or `None` if the line has no CR LF, or has
/// another CR, LF or NUL.
fn line_length(text: &[u8]) -> Option<usize> {
    let end = text.windows(2).position(|pair| pair == b"\r\n")?;
    let is_clean = !text[..end].iter().any(|byte| b"\r\n\0".contains(byte));
    is_clean.then_some(end + 2)
}
