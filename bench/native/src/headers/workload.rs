//! The requests and the rules.

use std::collections::BTreeSet;

use hedgerow_headers::{HeaderSet, HeaderSetBuilder};
use http::{HeaderMap, HeaderName, HeaderValue};

const INTERNAL: &str = include_str!("../../../../corpora/headers/internal.txt");
const PREFIX_RULES: &str = include_str!("../../../../corpora/headers/prefix-rules.txt");
const REAL: &str = include_str!("../../../../corpora/headers/real.txt");
const UNIFORM: &str = include_str!("../../../../corpora/headers/uniform.txt");
const NEAR: &str = include_str!("../../../../corpora/headers/near.txt");

/// The sizes of growing sets of rules.
pub const GROWTH: [usize; 4] = [10, 120, 1_000, 10_000];

/// Requests of one kind.
pub struct Workload {
    /// The name of the kind in results.
    pub name: String,
    /// The field names of each request.
    pub requests: Vec<Vec<HeaderName>>,
}

impl Workload {
    /// Returns an endless random sequence of requests, so that branch predictors do not learn it.
    pub fn shuffled(&self) -> impl Iterator<Item = &Vec<HeaderName>> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            &self.requests[(state >> 32) as usize % self.requests.len()]
        })
    }
}

/// The 120 internal names.
#[must_use]
pub fn internal_names() -> Vec<&'static str> {
    INTERNAL.lines().collect()
}

/// Ten typical prefix rules. They share prefixes with many names but match none of the workloads,
/// so they add to the cost of deciding, not of removing.
#[must_use]
pub fn prefix_rules() -> Vec<&'static str> {
    PREFIX_RULES.lines().collect()
}

/// Returns the set of `rules`.
///
/// # Panics
///
/// Panics if one of them is not a valid rule.
#[must_use]
pub fn set_of<'a>(rules: impl IntoIterator<Item = &'a str>) -> HeaderSet<'static> {
    let mut builder = HeaderSetBuilder::new();
    builder.rules(rules).expect("valid rules");
    builder.build()
}

/// Returns all workloads: real traffic, the mix of the article on `trie-hard`, and near misses.
#[must_use]
pub fn workloads() -> [Workload; 3] {
    [("real", REAL), ("uniform", UNIFORM), ("near", NEAR)].map(|(name, text)| Workload {
        name: name.to_owned(),
        requests: text.lines().map(request_names).collect(),
    })
}

fn request_names(line: &str) -> Vec<HeaderName> {
    line.split(' ').map(header_name).collect()
}

/// Returns a name as a parser makes it: allocated unless it is a standard one.
#[must_use]
pub fn header_name(name: &str) -> HeaderName {
    HeaderName::from_bytes(name.as_bytes()).expect("a valid name")
}

/// Returns a fresh request, which shares nothing with others.
#[must_use]
pub fn fresh(names: &[HeaderName]) -> HeaderMap {
    names
        .iter()
        .map(|name| (header_name(name.as_str()), HeaderValue::from_static("value")))
        .collect()
}

/// Returns `count` different rules: the internal names first, then combinations of their parts.
#[must_use]
pub fn many_rules(count: usize) -> Vec<String> {
    let names = internal_names();
    let parts: BTreeSet<&str> = names.iter().flat_map(|name| name.split('-')).collect();
    let made = parts.iter().flat_map(|first| {
        let parts = &parts;
        parts.iter().flat_map(move |second| {
            parts.iter().map(move |third| format!("x-{first}-{second}-{third}"))
        })
    });
    let stride = parts.len().pow(3) / 10_000;
    let known: Vec<String> = names.iter().map(ToString::to_string).collect();
    known.into_iter().chain(made.step_by(stride)).take(count).collect()
}
