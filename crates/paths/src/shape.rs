//! The options that determine the bits of a filter.

use crate::{
    bit_array::BitArray,
    build_error::BuildError,
    kind::Kind,
    limits::{MAX_FALSE_POSITIVE_RATE, MAX_INTEGER, MIN_FALSE_POSITIVE_RATE},
    sizing::{self, Sizing},
};

/// The options that determine the bits of a filter, together with its keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    pub(crate) rate: f64,
    pub(crate) seed: u64,
    pub(crate) sizing: Sizing,
    /// Number of keys to size for, if not the number of keys.
    pub(crate) capacity: Option<u64>,
}

impl Default for Shape {
    fn default() -> Self {
        Self { kind: Kind::Bloom, rate: 1e-7, seed: 0, sizing: Sizing::Promised, capacity: None }
    }
}

impl Shape {
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        if !(MIN_FALSE_POSITIVE_RATE..=MAX_FALSE_POSITIVE_RATE).contains(&self.rate) {
            return Err(BuildError::Rate { found: self.rate });
        }
        if self.seed > MAX_INTEGER {
            return Err(BuildError::Seed { found: self.seed });
        }
        Ok(())
    }

    /// Creates the bits for `count` different keys, all of them 0.
    pub(crate) fn bit_array(&self, count: u64) -> Result<BitArray, BuildError> {
        let capacity = self.capacity.unwrap_or(count);
        if count > capacity {
            return Err(BuildError::TooManyKeys { expected: capacity });
        }
        let m = self.sizing.bits(capacity, self.rate).filter(|&m| m > 0);
        let m = m.ok_or(BuildError::Bits { keys: capacity })?;
        Ok(BitArray::new(m, sizing::hashes(self.rate)))
    }
}
