//! The rules of an image, sorted by text. A name sorts before the prefix with the same text.
//!
//! | offset | width | field |
//! |---|---|---|
//! | 0 | 4 | offset of the rule's text in the text section |
//! | 4 | 2 | length of the text |
//! | 6 | 2 | 0: a name, 1: a prefix |

use crate::{
    Rule, Spelling,
    bytes::{u16_at, u32_at},
    image_error::ImageError,
    layout::{RULE_LENGTH, Sections},
    rule::MAX_RULE_LENGTH,
    token::is_token,
};

const EXACT: u16 = 0;
const PREFIX: u16 = 1;

/// A view of the two sections that hold the rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleTable<'a> {
    records: &'a [u8],
    text: &'a [u8],
}

impl<'a> RuleTable<'a> {
    #[inline]
    pub(crate) fn new(image: &'a [u8], sections: &Sections) -> Self {
        Self::of(&image[sections.rules.clone()], &image[sections.text.clone()])
    }

    /// Returns the table in two sections.
    #[inline]
    pub(crate) fn of(records: &'a [u8], text: &'a [u8]) -> Self {
        Self { records, text }
    }

    pub(crate) fn len(self) -> usize {
        self.records.len() / RULE_LENGTH
    }

    /// Returns the name or the prefix of a rule.
    #[inline]
    pub(crate) fn text(self, rule: usize) -> &'a [u8] {
        let record = &self.records[rule * RULE_LENGTH..][..RULE_LENGTH];
        &self.text[u32_at(record, 0) as usize..][..usize::from(u16_at(record, 4))]
    }

    #[inline]
    pub(crate) fn is_prefix(self, rule: usize) -> bool {
        u16_at(self.records, rule * RULE_LENGTH + 6) == PREFIX
    }

    pub(crate) fn get(self, rule: usize) -> Rule<'a> {
        let text = str::from_utf8(self.text(rule)).unwrap_or_default();
        if self.is_prefix(rule) { Rule::Prefix(text) } else { Rule::Exact(text) }
    }

    /// Checks that every rule is one that a builder accepts, folded, and that the rules are sorted.
    /// `offset` is the offset of the table in its image.
    pub(crate) fn validate(self, offset: usize, spelling: Spelling) -> Result<(), ImageError> {
        let error = |rule: usize, field| {
            Err(ImageError::Field { field, offset: offset + rule * RULE_LENGTH })
        };
        let mut previous: Option<(&[u8], u16)> = None;
        let (records, _) = self.records.as_chunks::<RULE_LENGTH>();
        for (rule, record) in records.iter().enumerate() {
            let (start, length) = (u32_at(record, 0) as usize, usize::from(u16_at(record, 4)));
            let kind = u16_at(record, 6);
            let Some(text) = self.text.get(start..).and_then(|text| text.get(..length)) else {
                return error(rule, "offset of a rule's text");
            };
            let is_valid = (1..=MAX_RULE_LENGTH).contains(&length)
                && text.iter().all(|&b| is_token(b) && b != b'*' && b == spelling.fold(b));
            if !is_valid {
                return error(rule, "rule");
            }
            if !matches!(kind, EXACT | PREFIX) {
                return error(rule, "kind of a rule");
            }
            if previous.is_some_and(|previous| previous >= (text, kind)) {
                return error(rule, "order of the rules");
            }
            previous = Some((text, kind));
        }
        Ok(())
    }
}

/// Returns the record of a rule whose text begins at `start`.
pub(crate) fn record(start: usize, length: usize, is_prefix: bool) -> [u8; RULE_LENGTH] {
    let kind = if is_prefix { PREFIX } else { EXACT };
    (start as u64 | (length as u64) << 32 | u64::from(kind) << 48).to_le_bytes()
}
