//! The requests and the rules of the header benchmarks.

use std::collections::BTreeSet;

use hedgerow_headers::{HeaderSet, HeaderSetBuilder};
use http::{HeaderMap, HeaderName, HeaderValue};

const INTERNAL: &str = include_str!("../../../corpora/headers/internal.txt");
const CLIENTS: &str = include_str!("../../../corpora/headers/clients.txt");
const PROXIES: &str = include_str!("../../../corpora/headers/proxies.txt");
const PREFIX_RULES: &str = include_str!("../../../corpora/headers/prefix-rules.txt");
const REAL: &str = include_str!(concat!(env!("OUT_DIR"), "/real.txt"));
const UNIFORM: &str = include_str!(concat!(env!("OUT_DIR"), "/uniform.txt"));
const NEAR: &str = include_str!(concat!(env!("OUT_DIR"), "/near.txt"));

/// Sizes of the sets that show the growth of lookups, compilation and images.
pub const GROWTH: [usize; 4] = [10, 120, 1_000, 10_000];

/// The names of the requests of one kind.
pub struct Workload {
    /// Name in the results.
    pub name: String,
    /// Field names of each request.
    pub requests: Vec<Vec<HeaderName>>,
}

impl Workload {
    /// Returns an endless random sequence of requests, whose order no branch predictor can learn.
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

/// Returns the 120 internal names.
#[must_use]
pub fn internal_names() -> Vec<&'static str> {
    INTERNAL.lines().collect()
}

/// Returns the names of clients and proxies, which an allow-list keeps. Some are repeated.
#[must_use]
pub fn external_names() -> Vec<&'static str> {
    CLIENTS.split_whitespace().chain(PROXIES.lines()).collect()
}

/// Returns ten typical prefix rules. They begin like many names but match no name of these workloads, so
/// they add to the cost of lookups, not of removals.
#[must_use]
pub fn prefix_rules() -> Vec<&'static str> {
    PREFIX_RULES.lines().collect()
}

/// Builds the set of these rules.
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

/// Returns all workloads: real traffic, the uniform mix of Cloudflare's article on `trie-hard`, and near
/// misses.
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

/// Creates a name as a parser does, with separate memory if it is not a standard name.
#[must_use]
pub fn header_name(name: &str) -> HeaderName {
    HeaderName::from_bytes(name.as_bytes()).expect("a valid name")
}

/// Creates a request that shares no memory with another.
#[must_use]
pub fn fresh(names: &[HeaderName]) -> HeaderMap {
    names
        .iter()
        .map(|name| (header_name(name.as_str()), HeaderValue::from_static("value")))
        .collect()
}

/// Returns `count` different rules: the internal names, then combinations of their parts.
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
