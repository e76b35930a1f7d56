//! The hash of a field name, on which the table of exact rules is built.
//!
//! Hashing byte by byte costs a dependent load, and often a mispredicted branch, per byte. This
//! hash reads two words instead: the first eight bytes and the last eight. Of each byte it keeps
//! the two bits that `-`, `_` and `.` share, and the two cases of a letter: more would cost several
//! operations for each name. Some other names become equal by that, which costs a comparison but
//! never a wrong result. For names in lower case it keeps whole bytes where no rule has one of these
//! characters: a name that is equivalent to a rule has none there, either.

use crate::mix::mix;

/// The bits of each byte that `-` (0x2d), `_` (0x5f) and `.` (0x2e) share, and the two cases of a
/// letter.
const SHARED_BITS: u64 = u64::from_le_bytes([0x0c; 8]);

/// A seeded hash of field names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHasher {
    first: u64,
    last: u64,
    kept: KeptBits,
}

/// The bits of each word that the hash reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptBits {
    first: u64,
    last: u64,
}

impl KeptBits {
    /// The bits for names in any case.
    const SHARED: Self = Self { first: SHARED_BITS, last: SHARED_BITS };

    /// Returns the bits for names in lower case, given the words of all rules.
    #[cfg(feature = "http")]
    pub(crate) fn of_lower_case(rules: impl Iterator<Item = Words>) -> Self {
        rules.fold(Self { first: u64::MAX, last: u64::MAX }, |kept, words| Self {
            first: kept.first & shared_at_separators(words.first),
            last: kept.last & shared_at_separators(words.last),
        })
    }
}

/// Returns the shared bits of each `-`, `_` and `.` in a word, and all bits of its other bytes.
#[cfg(feature = "http")]
fn shared_at_separators(word: u64) -> u64 {
    u64::from_le_bytes(word.to_le_bytes().map(|byte| match byte {
        b'-' | b'_' | b'.' => SHARED_BITS as u8,
        _ => u8::MAX,
    }))
}

impl NameHasher {
    pub(crate) fn new(seed: u64) -> Self {
        Self::keeping(KeptBits::SHARED, seed)
    }

    /// Returns a hasher that reads only the `kept` bits.
    pub(crate) fn keeping(kept: KeptBits, seed: u64) -> Self {
        Self { first: mix(seed) | 1, last: mix(!seed) | 1, kept }
    }

    /// Hashes a name. Equivalent names have the same hash.
    #[inline]
    pub(crate) fn hash(&self, name: &[u8]) -> u64 {
        self.hash_words(Words::of(name))
    }

    /// Hashes a name given by its words.
    #[inline]
    pub(crate) fn hash_words(&self, words: Words) -> u64 {
        folded_multiply(
            words.first & self.kept.first ^ self.first,
            (words.last & self.kept.last ^ self.last).wrapping_add(words.length as u64),
        )
    }

    /// Hashes a name given by its number.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn hash_number(&self, number: u64) -> u64 {
        number.wrapping_mul(self.first)
    }
}

/// The words of a name that the hash reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Words {
    /// The first eight bytes; of a shorter name the first four, or all if it has fewer than four.
    pub(crate) first: u64,
    /// The last eight bytes; of a shorter name the last four, or 0.
    last: u64,
    /// The second eight bytes, which no hash reads; 0 if the name has fewer than sixteen.
    second: u64,
    length: usize,
}

impl Words {
    /// Returns the words of a name.
    #[inline]
    pub(crate) fn of(name: &[u8]) -> Self {
        let (first, last) =
            if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
                (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
            } else if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
                (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
            } else {
                let byte = |at: usize| name.get(at).map_or(0, |&byte| u64::from(byte));
                (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
            };
        let second = name.get(8..16).and_then(|bytes| bytes.first_chunk());
        let second = second.map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Self { first, last, second, length: name.len() }
    }

    /// Returns whether the words hold every byte of the name.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn are_whole(self) -> bool {
        self.length <= 24
    }

    /// Returns whether names in lower case may be equivalent: of the difference of two equivalent
    /// characters, bits 4 to 6 are all 0 or all 1.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn may_be_equivalent(self, other: Self) -> bool {
        let mixed = |a: u64, b: u64| (a ^ b ^ (a ^ b) >> 1) & 0x3030_3030_3030_3030;
        mixed(self.first, other.first)
            | mixed(self.last, other.last)
            | mixed(self.second, other.second)
            == 0
    }
}

/// Combines both halves of the full product, so that the result depends on every bit of both
/// factors, as in wyhash.
#[inline]
fn folded_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_names_have_the_same_hash() {
        let of = |name: &[u8]| NameHasher::new(7).hash(name);
        assert!([b"a_b", b"a.b", b"A-B"].iter().all(|&name| of(name) == of(b"a-b")));
        for byte in b'a'..=b'z' {
            assert_eq!(of(&[byte; 9]), of(&[byte.to_ascii_uppercase(); 9]));
        }
        assert_ne!(of(b"a-b"), of(b"adb"));
    }

    #[cfg(feature = "http")]
    #[test]
    fn names_in_lower_case_keep_all_bits_but_those_of_separators() {
        let kept =
            KeptBits::of_lower_case([b"a-bcdefgh".as_slice(), b"xyz"].map(Words::of).into_iter());
        let of = |name: &[u8]| NameHasher::keeping(kept, 7).hash(name);
        assert_eq!(of(b"a_bcdefgh"), of(b"a-bcdefgh"));
        // The shared bits of `d` and `g` are equal, and those of `y` and `z`.
        assert_ne!(of(b"a-bcdefgh"), of(b"a-bcgefgh"));
        assert_ne!(of(b"yx"), of(b"zx"));
    }
}
