//! A deterministic random number generator for tests and benchmarks.

use std::ops::Range;

/// A random number generator (SplitMix64). The same seed gives the same numbers.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number in `range`.
    pub fn within(&mut self, range: Range<usize>) -> usize {
        range.start + (self.number() % range.len() as u64) as usize
    }

    /// Returns a number from 0 to 1.
    pub fn share(&mut self) -> f64 {
        self.number() as f64 / u64::MAX as f64
    }

    /// Returns true with a probability of 1 in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.number().is_multiple_of(times)
    }

    /// Returns one of `choices`.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.within(0..choices.len())]
    }
}

impl Iterator for Random {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.number())
    }
}
