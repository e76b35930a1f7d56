//! The rules of a builder, sorted and without duplicates.

use alloc::vec::Vec;

use crate::{
    Spelling,
    bytes::compare,
    rule::{self, MAX_RULES, RuleError},
    rule_table::{RuleTable, record},
};

/// A table of rules in order of insertion, and their sorted order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleList {
    spelling: Spelling,
    records: Vec<u8>,
    text: Vec<u8>,
    order: Vec<u16>,
}

impl RuleList {
    pub(crate) fn new(spelling: Spelling) -> Self {
        Self { spelling, ..Self::default() }
    }

    pub(crate) fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// Inserts a rule, unless the list has it already.
    pub(crate) fn insert(&mut self, rule: &[u8]) -> Result<(), RuleError> {
        let (text, is_prefix) = rule::parse(rule)?;
        let table = self.table();
        let search = |&other: &u16| {
            let other = usize::from(other);
            compare(table.text(other), text, self.spelling)
                .then_with(|| table.is_prefix(other).cmp(&is_prefix))
        };
        let Err(position) = self.order.binary_search_by(search) else {
            return Ok(());
        };
        if self.order.len() == MAX_RULES {
            return Err(RuleError::TOO_MANY);
        }
        self.order.insert(position, self.order.len() as u16);
        self.push(text, is_prefix);
        Ok(())
    }

    /// Returns the rules as an image stores them: their sorted records, and their text.
    pub(crate) fn sorted(&self) -> (Vec<u8>, Vec<u8>) {
        let mut sorted = Self::new(self.spelling);
        let table = self.table();
        for &rule in &self.order {
            let rule = usize::from(rule);
            sorted.push(table.text(rule), table.is_prefix(rule));
        }
        (sorted.records, sorted.text)
    }

    fn push(&mut self, text: &[u8], is_prefix: bool) {
        self.records.extend_from_slice(&record(self.text.len(), text.len(), is_prefix));
        let start = self.text.len();
        self.text.extend_from_slice(text);
        for byte in &mut self.text[start..] {
            *byte = self.spelling.fold(*byte);
        }
    }

    fn table(&self) -> RuleTable<'_> {
        RuleTable::of(&self.records, &self.text)
    }
}
