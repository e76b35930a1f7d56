//! Rules as users write them: a field name, or a prefix of field names that ends in `*`.

use core::fmt;

use crate::{Fault, Spelling, bytes::compare, token::is_token};

/// The maximum length of a rule in bytes, not counting the `*` of a prefix rule.
pub const MAX_RULE_LENGTH: usize = 256;

/// The maximum number of different rules in a set.
pub const MAX_RULES: usize = 32_768;

/// One rule of a set, in lower case. With [`Spelling::Equivalent`], it has `-` for `_` and `.`.
///
/// [`Display`](fmt::Display) writes it as a builder accepts it.
///
/// # Example
///
/// ```
/// use hedgerow_headers::{HeaderSetBuilder, Rule};
///
/// let mut builder = HeaderSetBuilder::new();
/// builder.rule("CF-Int-*")?;
/// let set = builder.build();
/// let rule = set.find(b"cf-int-brand-id").unwrap();
/// assert_eq!(rule, Rule::Prefix("cf-int-"));
/// assert_eq!(rule.to_string(), "cf-int-*");
/// # Ok::<(), hedgerow_headers::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule<'a> {
    /// Matches this name alone.
    Exact(&'a str),
    /// Matches every name that begins with this text, and the text itself.
    Prefix(&'a str),
}

impl<'a> Rule<'a> {
    /// Returns the name or the prefix, without the `*`.
    #[must_use]
    pub fn text(&self) -> &'a str {
        match self {
            Self::Exact(text) | Self::Prefix(text) => text,
        }
    }

    /// Returns whether this rule matches `name` with this spelling, ignoring case.
    ///
    /// This compares byte by byte. To test many rules at once, use
    /// [`HeaderSet::matches`](crate::HeaderSet::matches).
    #[must_use]
    pub fn matches(&self, name: &[u8], spelling: Spelling) -> bool {
        let is = |name: &[u8], text: &str| compare(name, text.as_bytes(), spelling).is_eq();
        match self {
            Self::Exact(text) => is(name, text),
            Self::Prefix(text) => name.get(..text.len()).is_some_and(|start| is(start, text)),
        }
    }
}

impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(text) => f.write_str(text),
            Self::Prefix(text) => write!(f, "{text}*"),
        }
    }
}

/// Parses a rule of either case. Returns its text without the `*`, and whether it is a prefix.
pub(crate) fn parse(rule: &[u8]) -> Result<(&[u8], bool), RuleError> {
    let (text, is_prefix) = match rule {
        [text @ .., b'*'] => (text, true),
        text => (text, false),
    };
    if text.is_empty() {
        return Err(RuleError(Fault::new(if is_prefix {
            "expected a prefix before '*', found a lone '*'"
        } else {
            "expected a field name, found an empty rule"
        })));
    }
    if text.len() > MAX_RULE_LENGTH {
        return Err(RuleError(Fault::new("expected at most 256 bytes, found more")));
    }
    for (position, &byte) in text.iter().enumerate() {
        if byte == b'*' {
            let message = "expected '*' only as the last character, found one";
            return Err(RuleError(Fault::at(position, message)));
        }
        if !is_token(byte) {
            let message = "expected a token character, found byte";
            return Err(RuleError(Fault::byte_at(position, byte, message)));
        }
    }
    Ok((text, is_prefix))
}

/// The error of adding a rule to a [`HeaderSetBuilder`](crate::HeaderSetBuilder), which is
/// unchanged.
///
/// [`Display`](fmt::Display) writes what was expected, what was found and where.
///
/// # Example
///
/// ```
/// use hedgerow_headers::HeaderSetBuilder;
///
/// let error = HeaderSetBuilder::new().rule("x-*-id").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "expected '*' only as the last character, found one at byte 2",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleError(Fault);

impl RuleError {
    pub(crate) const TOO_MANY: Self =
        Self(Fault::new("expected at most 32768 rules, found another"));

    /// Returns the parts of the message.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.0
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for RuleError {}
