//! The requests that are stripped, and the rules.

use std::collections::BTreeSet;

use hedgerow_headers::{HeaderSet, HeaderSetBuilder};
use http::{HeaderMap, HeaderName, HeaderValue};

const INTERNAL: &str = include_str!("../../../../corpora/headers/internal.txt");
const PREFIX_RULES: &str = include_str!("../../../../corpora/headers/prefix-rules.txt");
const REAL: &str = include_str!("../../../../corpora/headers/real.txt");
const UNIFORM: &str = include_str!("../../../../corpora/headers/uniform.txt");
const NEAR: &str = include_str!("../../../../corpora/headers/near.txt");

/// How many rules the sets have that show how lookups, compilation and images grow.
pub const GROWTH: [usize; 4] = [10, 120, 1_000, 10_000];

/// The names of the requests of one kind.
pub struct Workload {
    /// What the kind is called in the results.
    pub name: String,
    /// The field names of each request.
    pub requests: Vec<Vec<HeaderName>>,
}

impl Workload {
    /// Requests drawn at random without end, so that no branch predictor learns their order.
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

/// Ten prefix rules as operators add them. They begin like many names and match none of these
/// workloads, so that what they add is the cost of deciding, not of removing more.
#[must_use]
pub fn prefix_rules() -> Vec<&'static str> {
    PREFIX_RULES.lines().collect()
}

/// The set of these rules.
///
/// # Panics
///
/// If one of them is not a rule.
#[must_use]
pub fn set_of<'a>(rules: impl IntoIterator<Item = &'a str>) -> HeaderSet<'static> {
    let mut builder = HeaderSetBuilder::new();
    builder.rules(rules).expect("valid rules");
    builder.build()
}

/// All workloads: real traffic, the mix of the article that this work began with, near misses.
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

/// A name as a parser makes it, with memory of its own where it is not a standard one.
#[must_use]
pub fn header_name(name: &str) -> HeaderName {
    HeaderName::from_bytes(name.as_bytes()).expect("a valid name")
}

/// A fresh request: nothing in it is shared with another.
#[must_use]
pub fn fresh(names: &[HeaderName]) -> HeaderMap {
    names
        .iter()
        .map(|name| (header_name(name.as_str()), HeaderValue::from_static("value")))
        .collect()
}

/// `count` different rules: the internal names first, then others made of their parts.
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
