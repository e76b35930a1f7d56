//! The trie of all rules, which finds the longest match.
//!
//! A path-compressed trie in one array of 16-byte nodes. A node represents the text that all rules
//! below it share, which is read from the first of these rules rather than stored again. Its
//! children are adjacent, in the order of their characters, and a bit mask tells which of the 51
//! token characters have a child: the child for a character is the `k`-th, where `k` is the number
//! of bits set below the bit of the character.
//!
//! ```text
//!  rules: cf-int-* cf-ray x-id
//!
//!  node 0  ""        children c x         mask ….1……1….   popcount below x = 1: node 1 + 1
//!  node 1  "cf-"     children i r
//!  node 2  "x-id"    rule 2
//!  node 3  "cf-int-" rule 0 (prefix)
//!  node 4  "cf-ray"  rule 1
//! ```
//!
//! | offset | width | field |
//! |---|---|---|
//! | 0 | 8 | mask of the children's characters |
//! | 8 | 4 | number of the first child |
//! | 12 | 2 | number of the first rule below |
//! | 14 | 2 | length of the shared text |
//!
//! Rules are sorted, so a rule that ends at a node is the first rule below it. If a name and a
//! prefix with the same text both end there, they are the first two.
//!
//! Source: the child-by-popcount node is that of Bagwell, *Ideal Hash Trees* (2001), as in
//! Cloudflare's `trie-hard`; the compressed paths are those of Morrison, *PATRICIA* (1968).

use alloc::vec::Vec;
use core::iter::zip;

use crate::{
    Spelling,
    bytes::{u16_at, u32_at, u64_at},
    image_error::ImageError,
    layout::NODE_LENGTH,
    rule_table::RuleTable,
    token::symbol,
};

/// A view of the nodes, and of the rules they refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trie<'a> {
    nodes: &'a [u8],
    rules: RuleTable<'a>,
    spelling: Spelling,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    mask: u64,
    first_child: usize,
    first_rule: usize,
    text_length: usize,
}

impl Node {
    #[inline]
    fn child(self, symbol: u32) -> Option<usize> {
        let bit = 1 << symbol;
        (self.mask & bit != 0)
            .then(|| self.first_child + (self.mask & (bit - 1)).count_ones() as usize)
    }
}

impl<'a> Trie<'a> {
    #[inline]
    pub(crate) fn new(nodes: &'a [u8], rules: RuleTable<'a>, spelling: Spelling) -> Self {
        Self { nodes, rules, spelling }
    }

    /// Returns the number of the longest rule that matches `name`. A name takes precedence over the
    /// prefix with the same text.
    pub(crate) fn find(self, name: &[u8]) -> Option<usize> {
        let mut longest = None;
        let mut node = self.node(0)?;
        let mut matched = 0;
        loop {
            let shared = &self.rules.text(node.first_rule)[matched..node.text_length];
            let is_shared = name.get(matched..node.text_length).is_some_and(|part| {
                let mut bytes = zip(part, shared);
                bytes.all(|(&byte, &text)| byte == text || self.spelling.fold(byte) == text)
            });
            if !is_shared {
                return longest;
            }
            matched = node.text_length;
            longest = self.rule_ending_at(node, name.len()).or(longest);
            let Some(&next) = name.get(matched) else {
                return longest;
            };
            let Some(child) =
                symbol(self.spelling.fold(next)).and_then(|symbol| node.child(symbol))
            else {
                return longest;
            };
            node = self.node(child)?;
        }
    }

    /// Returns the rule that ends at `node` and matches a name of `name_length` bytes.
    fn rule_ending_at(self, node: Node, name_length: usize) -> Option<usize> {
        let rule = node.first_rule;
        let text = self.rules.text(rule);
        if text.len() != node.text_length {
            return None;
        }
        if self.rules.is_prefix(rule) || name_length == text.len() {
            return Some(rule);
        }
        let next = rule + 1;
        (next < self.rules.len() && self.rules.text(next) == text).then_some(next)
    }

    #[inline]
    fn node(self, number: usize) -> Option<Node> {
        let bytes = self.nodes.get(number * NODE_LENGTH..)?.get(..NODE_LENGTH)?;
        Some(Node {
            mask: u64_at(bytes, 0),
            first_child: u32_at(bytes, 8) as usize,
            first_rule: usize::from(u16_at(bytes, 12)),
            text_length: usize::from(u16_at(bytes, 14)),
        })
    }

    /// Checks that every walk terminates and stays inside the image. `offset` is the offset of the
    /// section.
    pub(crate) fn validate(self, offset: usize) -> Result<(), ImageError> {
        let count = self.nodes.len() / NODE_LENGTH;
        for (number, node) in (0..).map_while(|number| Some((number, self.node(number)?))) {
            let error =
                |field| Err(ImageError::Field { field, offset: offset + number * NODE_LENGTH });
            if node.first_rule >= self.rules.len()
                || node.text_length > self.rules.text(node.first_rule).len()
            {
                return error("rule of a node");
            }
            let children = node.mask.count_ones() as usize;
            let is_inside =
                children <= count && (number + 1..=count - children).contains(&node.first_child);
            if children != 0 && !is_inside {
                return error("children of a node");
            }
            for child in (0..children).filter_map(|child| self.node(node.first_child + child)) {
                if child.text_length <= node.text_length {
                    return error("length of a node's text");
                }
            }
        }
        Ok(())
    }
}

/// Writes the section for sorted rules, breadth first, so that the children of a node are adjacent.
pub(crate) fn write(rules: RuleTable<'_>) -> Vec<u8> {
    let mut nodes = Vec::new();
    // The runs of rules below each node, of the nodes already written and of those still to write.
    let mut groups = Vec::new();
    if rules.len() != 0 {
        groups.push((0, rules.len()));
    }
    let mut number = 0;
    while let Some(&(start, end)) = groups.get(number) {
        number += 1;
        let length = shared_length(rules.text(start), rules.text(end - 1));
        let first_child = groups.len();
        let mut mask = 0_u64;
        for rule in start..end {
            let Some(symbol) = rules.text(rule).get(length).and_then(|&next| symbol(next)) else {
                continue;
            };
            if mask & 1 << symbol == 0 {
                mask |= 1 << symbol;
                groups.push((rule, rule));
            }
            if let Some((_, end)) = groups.last_mut() {
                *end = rule + 1;
            }
        }
        let first_child = if mask == 0 { 0 } else { first_child };
        nodes.extend_from_slice(&mask.to_le_bytes());
        let rest = first_child as u64 | (start as u64) << 32 | (length as u64) << 48;
        nodes.extend_from_slice(&rest.to_le_bytes());
    }
    nodes
}

/// Returns the length of the text shared by a run of sorted rules, given its first and its last.
fn shared_length(first: &[u8], last: &[u8]) -> usize {
    zip(first, last).take_while(|(a, b)| a == b).count()
}
