//! The bits of a filter under construction.

use alloc::vec::Vec;

use crate::{hash::KeyHash, probes::Probes};

/// An array of `m` bits, most significant first in each byte.
pub(crate) struct BitArray {
    pub(crate) m: u32,
    pub(crate) k: u32,
    bytes: Vec<u8>,
    probes: Probes,
}

impl BitArray {
    /// Creates an array of `m` zeros for keys of `k` bits.
    pub(crate) fn new(m: u32, k: u32) -> Self {
        let bytes = alloc::vec![0; m.div_ceil(8) as usize];
        Self { m, k, bytes, probes: Probes::new(m, k) }
    }

    /// Sets the bits of a key. Returns whether any of them was 0 before, which proves that no equal
    /// key was inserted.
    #[inline]
    pub(crate) fn insert(&mut self, hash: KeyHash) -> bool {
        let mut missing = 0;
        self.probes.all(hash, |bit| {
            let byte = &mut self.bytes[(bit / 8) as usize];
            let mask = 0x80 >> (bit % 8);
            missing |= !*byte & mask;
            *byte |= mask;
            true
        });
        missing != 0
    }

    /// Returns the bytes that hold the bits.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
