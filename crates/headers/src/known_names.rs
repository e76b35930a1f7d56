//! The exact rules of a set as [`http::HeaderName`]s, for fast stripping of an [`http::HeaderMap`].

use alloc::vec::Vec;

use http::{HeaderMap, HeaderName};

use crate::{
    HeaderSet, Rule,
    exact_table::{self, BuiltExactTable, Candidate},
    hash::{KeptBits, NameHasher, Words},
    header_map::strip_each,
    name_key::NameKey,
    standard_names::StandardNames,
};

/// Capacity of each candidate list. The last entry is a scratch slot for names that are no
/// candidates. A map with this many candidates or more is stripped name by name instead, because
/// the lists would wrap and lose some.
const CANDIDATES: usize = 32;

/// The names of a set's exact rules, a table of their hashes, and the standard names.
#[derive(Clone, Debug)]
pub(crate) struct KnownNames {
    names: Vec<KnownName>,
    exact_table: BuiltExactTable,
    /// Whether rules share a slot of this table. Others may share one in the set's table, whose hash
    /// keeps other bits.
    has_shared_hashes: bool,
    hasher: NameHasher,
    standard: StandardNames,
}

/// The name of an exact rule.
#[derive(Clone, Debug)]
struct KnownName {
    name: HeaderName,
    words: Words,
}

impl KnownName {
    /// Returns whether a name with these words, which has the rule's hash, may be another spelling of
    /// the rule, or the name of another rule with the same hash, and [`is_other`](Self::is_other)
    /// must tell.
    #[inline]
    fn may_be_other(&self, has_shared_hashes: bool, words: Words) -> bool {
        has_shared_hashes || words.may_be_equivalent(self.words)
    }

    /// Returns whether a rule of `set` matches `name`, which has this rule's hash and is not its name.
    /// Not inlined, to keep its callers small.
    #[cold]
    fn is_other(&self, set: &HeaderSet<'_>, has_shared_hashes: bool, name: &HeaderName) -> bool {
        set.is_other(name.as_ref(), self.name.as_ref(), has_shared_hashes)
    }

    /// Returns whether `name` is the rule's. Not inlined, to keep its callers small.
    #[cold]
    fn is(&self, name: &HeaderName) -> bool {
        self.name == *name
    }
}

/// How many seeds to try for a table: the rules of an image may be hostile.
const MAX_SEEDS: u64 = 256;

/// The names of a map that a rule may match.
#[derive(Default)]
struct Candidates {
    /// Exact rules that names of the map may equal, and the positions of these names.
    rules: [(u16, u16); CANDIDATES],
    rule_count: usize,
    /// Positions in the map of the names that a prefix rule may match.
    positions: [u16; CANDIDATES],
    position_count: usize,
}

impl Candidates {
    /// Returns the rules, or `None` if there were too many.
    #[inline]
    fn rules(&self) -> Option<&[(u16, u16)]> {
        self.rules[..CANDIDATES - 1].get(..self.rule_count)
    }

    /// Returns the positions, or `None` if there were too many.
    #[inline]
    fn positions(&self) -> Option<&[u16]> {
        self.positions[..CANDIDATES - 1].get(..self.position_count)
    }
}

impl KnownNames {
    /// Collects the exact rules of `set`. Returns `None` if they were chosen so that they fit into no
    /// table, or if `http` does not behave as [`NameKey`] needs.
    pub(crate) fn of(set: &HeaderSet<'_>) -> Option<Self> {
        let names: Vec<_> = set
            .rules()
            .filter(|rule| matches!(rule, Rule::Exact(_)))
            .map(|rule| {
                let text = rule.text().as_bytes();
                HeaderName::from_bytes(text).map(|name| KnownName { name, words: Words::of(text) })
            })
            .collect::<Result<_, _>>()
            .ok()?;
        // The numbers of standard names, and the words of all, which equivalent spellings have, too.
        let keys: Vec<(NameKey, u16)> = (0..)
            .zip(&names)
            .flat_map(|(rule, known)| {
                let words = NameKey::Words(known.words);
                let number = Some(NameKey::of(&known.name)).filter(|&key| key != words);
                number.into_iter().chain([words]).map(move |key| (key, rule))
            })
            .collect();
        let kept = KeptBits::of_lower_case(names.iter().map(|known| known.words));
        let exact_table = exact_table::build_within(MAX_SEEDS, keys.len(), |seed| {
            let hasher = NameHasher::keeping(kept, seed);
            keys.iter().map(|&(key, rule)| (key.hash(hasher), rule)).collect()
        })?;
        let standard = StandardNames::of(set)?;
        let hasher = NameHasher::keeping(kept, exact_table.seed);
        let has_shared_hashes = exact_table.as_table().rules().count() < keys.len();
        Some(Self { hasher, names, exact_table, has_shared_hashes, standard })
    }

    /// Returns whether a rule of `set` matches `name`. `set` must be the one passed to
    /// [`of`](Self::of).
    #[inline]
    pub(crate) fn matches(&self, set: &HeaderSet<'_>, name: &HeaderName) -> bool {
        let hash = match NameKey::of(name) {
            key if self.standard.rules_out(key) => return false,
            key => key.hash(self.hasher),
        };
        let Candidate { rule, is_likely } = self.exact_table.as_table().candidate(hash);
        is_likely && self.is_rule(set, rule, name) || set.has_prefixes() && has_prefix(set, name)
    }

    /// Returns whether the candidate `rule`, or another rule with the same hash, matches `name`.
    #[inline]
    fn is_rule(&self, set: &HeaderSet<'_>, rule: u16, name: &HeaderName) -> bool {
        self.names.get(usize::from(rule)).is_some_and(|rule| {
            let words = Words::of(name.as_ref());
            words == rule.words && (words.are_whole() || rule.is(name))
                || rule.may_be_other(self.has_shared_hashes, words)
                    && rule.is_other(set, self.has_shared_hashes, name)
        })
    }

    /// Removes the fields whose names `set` matches, which must be the set passed to
    /// [`of`](Self::of). Returns the number of names removed, or `None` if there were too many
    /// candidates and nothing was removed.
    #[inline]
    pub(crate) fn strip<T>(&self, set: &HeaderSet<'_>, map: &mut HeaderMap<T>) -> Option<usize> {
        let mut candidates = Candidates::default();
        let mut prefixed = Vec::new();
        if set.has_prefixes() {
            self.find_candidates::<true, T>(set, map, &mut candidates);
            prefixed = prefixed_names(set, map, candidates.positions()?);
        } else {
            self.find_candidates::<false, T>(set, map, &mut candidates);
        }
        let before = map.keys_len();
        let has_others = self.remove(set, map, candidates.rules()?);
        for name in prefixed {
            map.remove(name);
        }
        if has_others {
            strip_each(map, |name| self.matches(set, name));
        }
        Some(before - map.keys_len())
    }

    /// Removes the candidates, rules and the positions of names, that are names of rules. Returns
    /// whether a rule matches one of the others.
    #[inline]
    fn remove<T>(
        &self,
        set: &HeaderSet<'_>,
        map: &mut HeaderMap<T>,
        candidates: &[(u16, u16)],
    ) -> bool {
        let mut has_others = false;
        // A removal moves the last name of the map to its position: later names go first.
        for &(rule, position) in candidates.iter().rev() {
            let (Some(rule), Some(name)) =
                (self.names.get(usize::from(rule)), map.keys().nth(position.into()))
            else {
                continue;
            };
            let words = Words::of(name.as_ref());
            if words == rule.words && (words.are_whole() || rule.is(name)) {
                map.remove(&rule.name);
            } else if rule.may_be_other(self.has_shared_hashes, words) {
                has_others = has_others || rule.is_other(set, self.has_shared_hashes, name);
            }
        }
        has_others
    }

    /// Collects the candidates in `map`.
    ///
    /// A branch on whether a name is a candidate would cost more than everything else here, so
    /// every name is stored and the count advances only for candidates. `FOR_PREFIXES` gives sets
    /// without prefix rules a separate loop, whose values stay in registers.
    #[inline]
    fn find_candidates<const FOR_PREFIXES: bool, T>(
        &self,
        set: &HeaderSet<'_>,
        map: &HeaderMap<T>,
        candidates: &mut Candidates,
    ) {
        let (exact_table, hasher, prefix_filter) =
            (self.exact_table.as_table(), self.hasher, set.prefix_filter());
        let (mut rule_count, mut position_count) = (0, 0);
        for (position, name) in (0..).zip(map.keys()) {
            let key = NameKey::of(name);
            let candidate = exact_table.candidate(key.hash(hasher));
            candidates.rules[rule_count % CANDIDATES] = (candidate.rule, position);
            rule_count += usize::from(candidate.is_likely);
            if FOR_PREFIXES {
                let is_candidate = match key {
                    NameKey::Number(_) => !self.standard.rules_out(key),
                    NameKey::Words(words) => prefix_filter.has_bucket(words),
                };
                candidates.positions[position_count % CANDIDATES] = position;
                position_count += usize::from(is_candidate);
            }
        }
        candidates.rule_count = rule_count;
        candidates.position_count = position_count;
    }
}

/// Returns whether a prefix rule matches `name`. Not inlined, to keep its caller small.
#[inline(never)]
fn has_prefix(set: &HeaderSet<'_>, name: &HeaderName) -> bool {
    set.matches_prefix(name.as_str().as_bytes())
}

/// Returns the names that a prefix rule matches, of those at `positions` in `map`.
#[inline]
fn prefixed_names<T>(
    set: &HeaderSet<'_>,
    map: &HeaderMap<T>,
    positions: &[u16],
) -> Vec<HeaderName> {
    positions
        .iter()
        .filter_map(|&position| map.keys().nth(usize::from(position)))
        .filter(|name| set.matches_prefix(name.as_str().as_bytes()))
        .cloned()
        .collect()
}
