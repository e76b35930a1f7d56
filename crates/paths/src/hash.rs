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
        Self { h1: Self::first(key, seed), h2: Self::first(key, seed.wrapping_add(1)) }
    }

    /// Returns the first of the two hashes of a key, which is enough for a fuse filter.
    // In WebAssembly, a single copy keeps the module small.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline)]
    pub(crate) fn first(key: &[u8], seed: u64) -> u64 {
        XxHash64::oneshot(seed, key)
    }
}
