//! The bits of a key, by double hashing modulo 2^64 and then modulo m.

use crate::hash::KeyHash;

/// Computes the bits of keys in a filter of `m` bits: `((h1 + i·h2) mod 2^64) mod m` for `i < k`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probes {
    m: u64,
    k: u32,
    /// 2^64 mod m: what a sum that wraps around loses modulo m.
    wrap: u64,
}

impl Probes {
    /// # Panics
    ///
    /// If `m` is 0.
    pub(crate) const fn new(m: u32, k: u32) -> Self {
        let m = m as u64;
        Self { m, k, wrap: (u64::MAX % m + 1) % m }
    }

    /// Returns whether `test` returns true for every bit of a key. Stops at the first bit for which
    /// it returns false.
    ///
    /// Two divisions are enough for all bits, because the remainder is updated along with the sum.
    #[inline]
    pub(crate) fn all(&self, hash: KeyHash, mut test: impl FnMut(u32) -> bool) -> bool {
        let mut sum = hash.h1;
        let mut bit = sum % self.m;
        if !test(bit as u32) {
            return false;
        }
        let step = hash.h2 % self.m;
        // The increment of a step in which the sum wraps around.
        let wrapped_step = if step < self.wrap { step + self.m } else { step } - self.wrap;
        for _ in 1..self.k {
            let (next, wraps) = sum.overflowing_add(hash.h2);
            sum = next;
            bit += if wraps { wrapped_step } else { step };
            if bit >= self.m {
                bit -= self.m;
            }
            if !test(bit as u32) {
                return false;
            }
        }
        true
    }
}
