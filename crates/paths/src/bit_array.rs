//! The bits while a filter is built, the first of each byte highest.

use alloc::vec::Vec;

use crate::{hash::KeyHash, probes::Probes};

/// `m` bits, and the way from a key to its own `k`.
pub(crate) struct BitArray {
    pub(crate) m: u32,
    pub(crate) k: u32,
    bytes: Vec<u8>,
    probes: Probes,
}

impl BitArray {
    /// None set.
    pub(crate) fn new(m: u32, k: u32) -> Self {
        let bytes = alloc::vec![0; m.div_ceil(8) as usize];
        Self { m, k, bytes, probes: Probes::new(m, k) }
    }

    /// Sets a key's bits, and says whether one of them was not set before. If so, no equal key was
    /// inserted.
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

    /// The bytes that hold the bits.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
