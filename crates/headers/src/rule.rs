//! Rules as people write them: a field name, or a prefix of field names that ends in `*`.

use core::fmt;

use crate::token::is_token;

/// The longest rule, in bytes, without the `*` of a prefix rule.
pub const MAX_RULE_LENGTH: usize = 256;

/// The most different rules that one set can hold.
pub const MAX_RULES: usize = 32_768;

/// One rule of a set, in lower case.
///
/// [`Display`](fmt::Display) writes it as it would be given to a builder.
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
    /// The name or the prefix, without a `*`.
    #[must_use]
    pub fn text(&self) -> &'a str {
        match self {
            Self::Exact(text) | Self::Prefix(text) => text,
        }
    }

    /// Whether this rule matches `name`, in whatever case.
    ///
    /// This is the naive way, one rule at a time, byte by byte; a set asks all its rules at once.
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Exact(text) => name.eq_ignore_ascii_case(text.as_bytes()),
            Self::Prefix(text) => name
                .get(..text.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes())),
        }
    }

    /// Reads a rule, whose letters may be of either case: the rule borrows them as they are.
    pub(crate) fn parse(rule: &'a str) -> Result<Self, RuleError> {
        let text = rule.strip_suffix('*').unwrap_or(rule);
        let is_prefix = text.len() < rule.len();
        if text.is_empty() {
            return Err(RuleError(if is_prefix { Kind::LoneStar } else { Kind::Empty }));
        }
        if text.len() > MAX_RULE_LENGTH {
            return Err(RuleError(Kind::TooLong { length: text.len() }));
        }
        if let Some((position, found)) =
            text.char_indices().find(|&(_, c)| c == '*' || !u8::try_from(c).is_ok_and(is_token))
        {
            return Err(RuleError(match found {
                '*' => Kind::StarInside { position },
                _ => Kind::NotToken { found, position },
            }));
        }
        Ok(if is_prefix { Self::Prefix(text) } else { Self::Exact(text) })
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

/// A rule that a [`HeaderSetBuilder`](crate::HeaderSetBuilder) refused. The builder is as it was.
///
/// [`Display`](fmt::Display) says what was expected, what was found and where.
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
pub struct RuleError(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Empty,
    LoneStar,
    StarInside { position: usize },
    NotToken { found: char, position: usize },
    TooLong { length: usize },
    TooMany,
}

impl RuleError {
    pub(crate) const TOO_MANY: Self = Self(Kind::TooMany);
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Empty => f.write_str("expected a field name, found an empty rule"),
            Kind::LoneStar => f.write_str("expected a prefix before '*', found a lone '*'"),
            Kind::StarInside { position } => {
                write!(f, "expected '*' only as the last character, found one at byte {position}")
            }
            Kind::NotToken { found, position } => write!(
                f,
                "expected a token character (RFC 9110 section 5.6.2), found '{}' at byte {position}",
                found.escape_default()
            ),
            Kind::TooLong { length } => {
                write!(f, "expected at most {MAX_RULE_LENGTH} bytes, found {length}")
            }
            Kind::TooMany => write!(f, "expected at most {MAX_RULES} rules, found another"),
        }
    }
}

impl core::error::Error for RuleError {}
