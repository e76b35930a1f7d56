//! The exact rules of a set as names of `http`, to be found and removed as fast as it allows.
//!
//! A [`HeaderName`] is either one of the standard names, which `http` holds as a number, or bytes
//! in lower case. Its own [`Hash`] tells which: fed to a hasher of ours it yields the number or the
//! bytes, so that a standard name is decided without reading its text. This relies on nothing but
//! that equal names hash equally: whatever a candidate is, only names of rules are removed.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use http::{HeaderMap, HeaderName};

use crate::{
    HeaderSet, Rule,
    front::{self, BuiltFront},
    hash::NameHasher,
};

/// How many candidates are looked for; a map with more is stripped the plain way.
const CANDIDATES: usize = 32;

/// The names of a set's exact rules, and a front of their own.
#[derive(Clone, Debug)]
pub(crate) struct KnownNames {
    names: Vec<HeaderName>,
    front: BuiltFront,
    hasher: NameHasher,
}

/// What came of stripping a map.
pub(crate) struct Stripped {
    /// How many names went.
    pub(crate) names: usize,
    /// Whether the whole map was looked at.
    pub(crate) is_whole: bool,
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
            names
                .iter()
                .map(|name| hash(hasher, name))
                .zip(0..)
                .collect()
        });
        let is_exact = front.front().rules().count() == names.len();
        is_exact.then(|| Self {
            hasher: NameHasher::new(front.seed),
            names,
            front,
        })
    }

    /// Whether `name` is an exact rule.
    #[inline]
    pub(crate) fn contains(&self, name: &HeaderName) -> bool {
        let candidate = self.front.front().candidate(hash(self.hasher, name));
        candidate.is_likely && self.names.get(usize::from(candidate.rule)) == Some(name)
    }

    /// Removes the fields whose names `set`, the set that these names are of, matches.
    #[inline]
    pub(crate) fn strip<T>(&self, set: &HeaderSet<'_>, map: &mut HeaderMap<T>) -> Stripped {
        let mut candidates = [0; CANDIDATES];
        let (count, prefixed) = self.candidates(set, map, &mut candidates);
        let before = map.keys_len();
        for &candidate in &candidates[..count] {
            if let Some(name) = self.names.get(usize::from(candidate)) {
                map.remove(name);
            }
        }
        for name in prefixed {
            map.remove(name);
        }
        Stripped {
            names: before - map.keys_len(),
            is_whole: count < CANDIDATES,
        }
    }

    /// The exact rules that the names of `map` may be, and the names that prefix rules match.
    ///
    /// To branch on whether a name is an exact rule would cost more than all the rest: every name
    /// writes its candidate, and only those that are likely are counted.
    #[inline]
    fn candidates<T>(
        &self,
        set: &HeaderSet<'_>,
        map: &HeaderMap<T>,
        candidates: &mut [u16; CANDIDATES],
    ) -> (usize, Vec<HeaderName>) {
        let (front, hasher) = (self.front.front(), self.hasher);
        let mut prefixed = Vec::new();
        let mut count = 0;
        for name in map.keys() {
            let candidate = front.candidate(hash(hasher, name));
            candidates[count] = candidate.rule;
            count += usize::from(candidate.is_likely);
            if count == CANDIDATES {
                break;
            }
            if set.matches_prefix(name.as_str().as_bytes()) {
                prefixed.push(name.clone());
            }
        }
        (count, prefixed)
    }
}

#[inline]
fn hash(hasher: NameHasher, name: &HeaderName) -> u64 {
    let mut key = KeyHasher { hasher, hash: 0 };
    name.hash(&mut key);
    key.hash
}

/// A hasher that keeps the hash of the last thing it was fed: after a tag that says which of the
/// two follows, the number of a standard name or the bytes of any other.
struct KeyHasher {
    hasher: NameHasher,
    hash: u64,
}

impl Hasher for KeyHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.hash = self.hasher.hash(bytes);
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.hash = self.hasher.hash_number(number as u64);
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}
