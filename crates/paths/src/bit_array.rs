//! The bits of a filter under construction.

use alloc::{string::String, vec::Vec};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{alphabet::bits_of, hash::KeyHash, probes::Probes};

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

    /// Sets the bits that are set in the Base64 of an array of the same `m`, which may lack its last
    /// characters.
    pub(crate) fn merge(&mut self, base64: &[u8]) {
        for (bytes, characters) in self.bytes.chunks_mut(3).zip(base64.chunks(4)) {
            let mut group = 0_u32;
            for (index, &character) in characters.iter().enumerate() {
                group |= u32::from(bits_of(character)) << (18 - 6 * index);
            }
            let [_, group @ ..] = group.to_be_bytes();
            bytes.iter_mut().zip(group).for_each(|(byte, other)| *byte |= other);
        }
        // Bits beyond `m`, which the other array may have.
        if let Some(last) = self.bytes.last_mut() {
            *last &= 0xff << ((8 - self.m % 8) % 8);
        }
    }

    /// Returns the bits in padded Base64.
    pub(crate) fn base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }

    /// Returns the bytes that hold the bits.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
