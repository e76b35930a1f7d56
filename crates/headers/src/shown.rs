//! What a [`HeaderName`] shows of itself.
//!
//! It is either one of the standard names, which `http` holds as a number, or bytes in lower case.
//! Its own [`Hash`] tells which: fed to a hasher of ours it yields the number or the bytes, so that
//! a standard name is decided without reading its text, and any other without asking twice.

use core::hash::{Hash, Hasher};

use http::HeaderName;

use crate::hash::{NameHasher, Words};

/// The last thing that a name feeds to a hasher. Equal names show the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shown {
    /// The number of a standard name.
    Number(isize),
    /// The words of any other name.
    Words(Words),
}

impl Shown {
    #[inline]
    pub(crate) fn by(name: &HeaderName) -> Self {
        let mut watcher = Watcher(Self::Number(0));
        name.hash(&mut watcher);
        watcher.0
    }

    #[inline]
    pub(crate) fn hash(self, hasher: NameHasher) -> u64 {
        match self {
            Self::Number(number) => hasher.hash_number(number as u64),
            Self::Words(words) => hasher.hash_words(words),
        }
    }
}

/// A hasher that only watches: a tag comes first, and then what is wanted.
struct Watcher(Shown);

impl Hasher for Watcher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = Shown::Words(Words::of_lower_case(bytes));
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.0 = Shown::Number(number);
    }

    fn finish(&self) -> u64 {
        0
    }
}
