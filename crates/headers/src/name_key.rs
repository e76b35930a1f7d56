//! The key of an [`http::HeaderName`]: its number if it is a standard name, else its words.
//!
//! `http` holds standard names as numbers and other names as bytes in lower case, and exposes
//! neither. Its [`Hash`] feeds one or the other to the hasher, so a hasher that records its input
//! learns the number of a standard name without reading its text.

use core::hash::{Hash, Hasher};

use http::HeaderName;

use crate::hash::{NameHasher, Words};

/// The last value that a name feeds to a hasher. Equal names have equal keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NameKey {
    /// Number of a standard name.
    Number(isize),
    /// Words of any other name.
    Words(Words),
}

impl NameKey {
    #[inline]
    pub(crate) fn of(name: &HeaderName) -> Self {
        let mut recorder = Recorder(Self::Number(0));
        name.hash(&mut recorder);
        recorder.0
    }

    #[inline]
    pub(crate) fn hash(self, hasher: NameHasher) -> u64 {
        match self {
            Self::Number(number) => hasher.hash_number(number as u64),
            Self::Words(words) => hasher.hash_words(words),
        }
    }
}

/// A hasher that records the last value written to it. `http` writes a tag first, then the key.
struct Recorder(NameKey);

impl Hasher for Recorder {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = NameKey::Words(Words::of(bytes));
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.0 = NameKey::Number(number);
    }

    fn finish(&self) -> u64 {
        0
    }
}
