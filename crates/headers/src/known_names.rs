//! The exact rules of a set as names of `http`, to be found and removed as fast as it allows.

use alloc::vec::Vec;

use http::{HeaderMap, HeaderName};

use crate::{
    HeaderSet, Rule,
    front::{self, BuiltFront, Candidate},
    hash::NameHasher,
    shown::Shown,
    standard_names::StandardNames,
};

/// How many candidates of either kind are written down. The last place is for names that are none:
/// a map with as many candidates is stripped the plain way, or names could hide behind others.
const CANDIDATES: usize = 32;

/// The names of a set's exact rules, a front of their own, and the standard names.
#[derive(Clone, Debug)]
pub(crate) struct KnownNames {
    names: Vec<HeaderName>,
    front: BuiltFront,
    hasher: NameHasher,
    standard: StandardNames,
}

/// What a look at every name of a map finds.
#[derive(Default)]
struct Candidates {
    /// The exact rules that names of the map may be.
    rules: [u16; CANDIDATES],
    rule_count: usize,
    /// Where in the map the names are that a prefix rule may match.
    places: [u16; CANDIDATES],
    place_count: usize,
}

impl Candidates {
    /// The rules, unless there are too many.
    #[inline]
    fn rules(&self) -> Option<&[u16]> {
        self.rules[..CANDIDATES - 1].get(..self.rule_count)
    }

    /// The places, unless there are too many.
    #[inline]
    fn places(&self) -> Option<&[u16]> {
        self.places[..CANDIDATES - 1].get(..self.place_count)
    }
}

impl KnownNames {
    /// The exact rules of `set`, unless some of them have the same hash.
    pub(crate) fn of(set: &HeaderSet<'_>) -> Option<Self> {
        let names: Vec<_> = set
            .rules()
            .filter(|rule| matches!(rule, Rule::Exact(_)))
            .map(|rule| HeaderName::from_bytes(rule.text().as_bytes()))
            .collect::<Result<_, _>>()
            .ok()?;
        let front = front::build(names.len(), |seed| {
            let hasher = NameHasher::new(seed);
            names.iter().map(|name| Shown::by(name).hash(hasher)).zip(0..).collect()
        });
        let is_exact = front.front().rules().count() == names.len();
        let standard = StandardNames::of(set)?;
        is_exact.then(|| Self { hasher: NameHasher::new(front.seed), names, front, standard })
    }

    /// Whether a rule of `set`, the set that these names are of, matches `name`.
    #[inline]
    pub(crate) fn matches(&self, set: &HeaderSet<'_>, name: &HeaderName) -> bool {
        let shown = Shown::by(name);
        if self.standard.dismisses(shown) {
            return false;
        }
        let Candidate { rule, is_likely } = self.front.front().candidate(shown.hash(self.hasher));
        is_likely && self.names.get(usize::from(rule)) == Some(name)
            || set.has_prefixes() && has_prefix(set, name)
    }

    /// Removes the fields whose names `set`, the set that these names are of, matches. Returns how
    /// many names went, or `None` if there were too many candidates and nothing was removed.
    #[inline]
    pub(crate) fn strip<T>(&self, set: &HeaderSet<'_>, map: &mut HeaderMap<T>) -> Option<usize> {
        let mut candidates = Candidates::default();
        let mut prefixed = Vec::new();
        if set.has_prefixes() {
            self.look_over::<true, T>(set, map, &mut candidates);
            prefixed = prefixed_names(set, map, candidates.places()?);
        } else {
            self.look_over::<false, T>(set, map, &mut candidates);
        }
        let before = map.keys_len();
        for &rule in candidates.rules()? {
            if let Some(name) = self.names.get(usize::from(rule)) {
                map.remove(name);
            }
        }
        for name in prefixed {
            map.remove(name);
        }
        Some(before - map.keys_len())
    }

    /// Finds the candidates in `map`.
    ///
    /// To branch on whether a name is one would cost more than all the rest: every name is written
    /// down, and only those that may match are counted. Sets without prefix rules have a loop of
    /// their own, whose values stay in registers.
    #[inline]
    fn look_over<const FOR_PREFIXES: bool, T>(
        &self,
        set: &HeaderSet<'_>,
        map: &HeaderMap<T>,
        candidates: &mut Candidates,
    ) {
        let (front, hasher, gate) = (self.front.front(), self.hasher, set.gate());
        let (mut rule_count, mut place_count) = (0, 0);
        for (place, name) in (0..).zip(map.keys()) {
            let shown = Shown::by(name);
            let candidate = front.candidate(shown.hash(hasher));
            candidates.rules[rule_count % CANDIDATES] = candidate.rule;
            rule_count += usize::from(candidate.is_likely);
            if FOR_PREFIXES {
                let is_candidate = match shown {
                    Shown::Number(_) => !self.standard.dismisses(shown),
                    Shown::Words(words) => gate.has_bucket(words),
                };
                candidates.places[place_count % CANDIDATES] = place;
                place_count += usize::from(is_candidate);
            }
        }
        candidates.rule_count = rule_count;
        candidates.place_count = place_count;
    }
}

/// Whether a prefix rule matches `name`. Not inlined, to keep what comes before it short.
#[inline(never)]
fn has_prefix(set: &HeaderSet<'_>, name: &HeaderName) -> bool {
    set.matches_prefix(name.as_str().as_bytes())
}

/// The names that a prefix rule matches, of those at `places` in `map`.
#[inline]
fn prefixed_names<T>(set: &HeaderSet<'_>, map: &HeaderMap<T>, places: &[u16]) -> Vec<HeaderName> {
    places
        .iter()
        .filter_map(|&place| map.keys().nth(usize::from(place)))
        .filter(|name| set.matches_prefix(name.as_str().as_bytes()))
        .cloned()
        .collect()
}
