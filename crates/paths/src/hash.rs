//! The two hashes of a key.

use twox_hash::XxHash64;

/// The XXH64 hashes of a key under the seed of a filter and under the seed + 1.
///
/// # Example
///
/// ```
/// let hash = hedgerow_paths::KeyHash::of(b"", 0);
/// assert_eq!((hash.h1, hash.h2), (0xef46db3751d8e999, 0xd5afba1336a3be4b));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyHash {
    /// XXH64 with the seed.
    pub h1: u64,
    /// XXH64 with the seed + 1.
    pub h2: u64,
}

impl KeyHash {
    /// Hashes a key.
    ///
    /// # Complexity
    ///
    /// Two passes over the key.
    #[inline]
    pub fn of(key: &[u8], seed: u64) -> Self {
        let h1 = XxHash64::oneshot(seed, key);
        let h2 = XxHash64::oneshot(seed.wrapping_add(1), key);
        Self { h1, h2 }
    }
}
