//! The other ways to find out whether a name is one of the internal ones.
//!
//! Each answers with the number of the internal name, so that removal costs all of them the same.

use std::{
    collections::{BTreeMap, HashMap},
    hash::BuildHasher,
};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, MatchKind, StartKind};
use http::{HeaderMap, HeaderName};
use radix_trie::Trie;
use regex::bytes::{Regex, RegexBuilder};
use trie_hard::TrieHard;

/// Internal names by perfect hash, made by the build script.
static INTERNAL: phf::Map<&str, usize> = include!(concat!(env!("OUT_DIR"), "/internal_phf.rs"));

/// What a regular expression may take: that of ten thousand names takes more than is usual.
const REGEX_BYTES: usize = 1 << 28;

/// Removes what `find` knows: one pass over the request, then the removals.
#[inline]
pub fn clear(
    map: &mut HeaderMap,
    names: &[HeaderName],
    hits: &mut Vec<usize>,
    find: impl Fn(&HeaderName) -> Option<usize>,
) {
    hits.clear();
    hits.extend(map.keys().filter_map(find));
    for &hit in &*hits {
        map.remove(&names[hit]);
    }
}

/// Removes every internal name, whether it is there or not.
pub fn clear_by_loop(map: &mut HeaderMap, names: &[HeaderName]) {
    for name in names {
        map.remove(name);
    }
}

/// Removes every internal name, given as text.
pub fn clear_by_loop_over_text(map: &mut HeaderMap, names: &[&str]) {
    for &name in names {
        map.remove(name);
    }
}

/// A `HashMap` keyed by `HeaderName`, with the hasher of choice.
pub fn hash_map<S: BuildHasher + Default>(
    names: &[HeaderName],
) -> impl Fn(&HeaderName) -> Option<usize> + use<S> {
    let map: HashMap<HeaderName, usize, S> =
        names.iter().enumerate().map(|(number, name)| (name.clone(), number)).collect();
    move |name| map.get(name).copied()
}

/// The perfect hash table.
pub fn perfect_hash() -> impl Fn(&HeaderName) -> Option<usize> {
    |name| INTERNAL.get(name.as_str()).copied()
}

/// A `BTreeMap` keyed by text.
pub fn b_tree<'a>(names: &[&'a str]) -> impl Fn(&HeaderName) -> Option<usize> + use<'a> {
    let map: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(number, &name)| (name, number)).collect();
    move |name| map.get(name.as_str()).copied()
}

/// A finite state transducer.
pub fn fst_map(names: &[&str]) -> impl Fn(&HeaderName) -> Option<usize> + use<> {
    let mut sorted: Vec<_> =
        names.iter().enumerate().map(|(number, &name)| (name, number as u64)).collect();
    sorted.sort_unstable();
    let map = fst::Map::from_iter(sorted).expect("sorted names");
    move |name| map.get(name.as_str()).map(|number| number as usize)
}

/// One regular expression of all names. It cannot tell which one matched.
#[must_use]
pub fn regex_of(names: &[&str]) -> Regex {
    let pattern = format!("^(?:{})$", names.join("|"));
    RegexBuilder::new(&pattern).size_limit(REGEX_BYTES).build().expect("names need no escapes")
}

/// Removes what one regular expression matches.
pub fn clear_by_regex(map: &mut HeaderMap, regex: &Regex, hits: &mut Vec<HeaderName>) {
    hits.clear();
    hits.extend(map.keys().filter(|name| regex.is_match(name.as_str().as_bytes())).cloned());
    for hit in &*hits {
        map.remove(hit);
    }
}

/// An Aho-Corasick automaton compiled to a DFA, anchored at both ends.
pub fn automaton(names: &[&str]) -> impl Fn(&HeaderName) -> Option<usize> + use<> {
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .match_kind(MatchKind::LeftmostLongest)
        .start_kind(StartKind::Anchored)
        .build(names)
        .expect("a small automaton");
    move |name| {
        let name = name.as_str();
        automaton
            .find(Input::new(name).anchored(Anchored::Yes))
            .filter(|found| found.end() == name.len())
            .map(|found| found.pattern().as_usize())
    }
}

/// A radix trie.
pub fn radix_trie(names: &[&str]) -> impl Fn(&HeaderName) -> Option<usize> + use<> {
    let mut trie = Trie::new();
    for (number, &name) in names.iter().enumerate() {
        trie.insert(name.to_owned(), number);
    }
    move |name| trie.get(name.as_str()).copied()
}

/// Cloudflare's trie.
pub fn trie_hard<'a>(names: &[&'a str]) -> impl Fn(&HeaderName) -> Option<usize> + use<'a> {
    let trie = TrieHard::new(
        names.iter().enumerate().map(|(number, &name)| (name.as_bytes(), number)).collect(),
    );
    move |name| trie.get(name.as_str())
}
