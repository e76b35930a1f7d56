//! Finding the one rule that a name may be: a perfect hash table, by hashing and displacing.
//!
//! ```text
//!  hash           63 … 64-b     │ 63 … 32          │ 31 … 16
//!                 which bucket  │ which slot       │ fingerprint
//!
//!  displacements  one a bucket, xored with the slot's number: no two rules share a slot
//!  slots          the fingerprint of a rule's hash, and the rule's number
//! ```
//!
//! Two loads and one comparison, whatever the number of rules, and no branch until a candidate is
//! found. A name that is no rule passes once in 65,536 times.
//!
//! Source: Belazzougui, Botelho and Dietzfelbinger, *Hash, Displace, and Compress* (2009).

use alloc::{vec, vec::Vec};

use crate::layout::{DISPLACEMENT_LENGTH, SLOT_LENGTH, SlotBits};

/// The rule of an empty slot: no set has so many.
const NO_RULE: u16 = u16::MAX;

/// How many seeds are tried before the number of slots is doubled.
const SEEDS_PER_SIZE: u64 = 32;

/// A displacement, little-endian.
pub(crate) type Displacement = [u8; DISPLACEMENT_LENGTH];
/// A rule in the lower half and a fingerprint in the upper, little-endian.
pub(crate) type Slot = [u8; SLOT_LENGTH];

/// The table, wherever it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Front<'a> {
    displacements: &'a [Displacement],
    slots: &'a [Slot],
    bucket_shift: u32,
}

/// What the table holds for a hash, to be tested without a branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) rule: u16,
    pub(crate) is_likely: bool,
}

impl<'a> Front<'a> {
    #[inline]
    pub(crate) fn new(displacements: &'a [u8], slots: &'a [u8], bits: SlotBits) -> Self {
        Self::of(displacements.as_chunks().0, slots.as_chunks().0, bits)
    }

    #[inline]
    fn of(displacements: &'a [Displacement], slots: &'a [Slot], bits: SlotBits) -> Self {
        assert!(!slots.is_empty(), "checked here, so that no lookup has to");
        Self { displacements, slots, bucket_shift: bits.bucket_shift() }
    }

    /// The rule that a name of this hash would be.
    #[inline]
    pub(crate) fn candidate(self, hash: u64) -> Candidate {
        let bucket = (hash >> self.bucket_shift) as usize;
        let displacement = u16::from_le_bytes(self.displacements[bucket]);
        let slot = slot_of(hash, displacement, self.slots.len() - 1);
        let entry = u32::from_le_bytes(self.slots[slot]);
        Candidate { rule: entry as u16, is_likely: (entry ^ hash as u32) >> 16 == 0 }
    }

    /// The rule of every slot that is not empty.
    pub(crate) fn rules(self) -> impl Iterator<Item = u16> + 'a {
        let rules = self.slots.iter().map(|slot| u32::from_le_bytes(*slot) as u16);
        rules.filter(|&rule| rule != NO_RULE)
    }
}

#[inline]
fn slot_of(hash: u64, displacement: u16, mask: usize) -> usize {
    ((hash >> 32) as usize ^ usize::from(displacement)) & mask
}

/// A table for exact rules, and the seed of the hash that it was found with.
#[derive(Clone, Debug)]
pub(crate) struct BuiltFront {
    pub(crate) seed: u64,
    pub(crate) bits: SlotBits,
    pub(crate) displacements: Vec<Displacement>,
    pub(crate) slots: Vec<Slot>,
}

impl BuiltFront {
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn front(&self) -> Front<'_> {
        Front::of(&self.displacements, &self.slots, self.bits)
    }
}

/// Builds the table for `count` rules, from the hashes that a seed gives them.
///
/// Rules of one hash share a slot, and the first stands for all.
pub(crate) fn build(count: usize, hashes: impl Fn(u64) -> Vec<(u64, u16)>) -> BuiltFront {
    let mut bits = SlotBits::for_rules(count);
    for seed in 0.. {
        if let Some((displacements, slots)) = place(hashes(seed), bits) {
            return BuiltFront { seed, bits, displacements, slots };
        }
        if seed % SEEDS_PER_SIZE == SEEDS_PER_SIZE - 1 {
            bits = bits.doubled();
        }
    }
    unreachable!("one seed in a few places all hashes in a table half full")
}

/// Places every bucket's hashes, the fullest bucket first; `None` if one fits nowhere.
fn place(mut hashes: Vec<(u64, u16)>, bits: SlotBits) -> Option<(Vec<Displacement>, Vec<Slot>)> {
    let bucket_of = |hash: u64| (hash >> bits.bucket_shift()) as usize;
    hashes.sort_unstable();
    hashes.dedup_by_key(|&mut (hash, _)| hash);
    let mut buckets: Vec<_> = hashes.chunk_by(|a, b| bucket_of(a.0) == bucket_of(b.0)).collect();
    buckets.sort_by_key(|bucket| core::cmp::Reverse(bucket.len()));

    let mask = bits.slots() - 1;
    let mut displacements = vec![[0; DISPLACEMENT_LENGTH]; bits.buckets()];
    let mut slots = vec![u32::from(NO_RULE).to_le_bytes(); bits.slots()];
    for bucket in buckets {
        let is_free = |slot: usize| u32::from_le_bytes(slots[slot]) as u16 == NO_RULE;
        let displacement = (0..=mask as u16).find(|&displacement| {
            let slot = |&(hash, _): &(u64, u16)| slot_of(hash, displacement, mask);
            bucket.iter().enumerate().all(|(index, entry)| {
                is_free(slot(entry))
                    && bucket[..index].iter().all(|other| slot(other) != slot(entry))
            })
        })?;
        displacements[bucket_of(bucket[0].0)] = displacement.to_le_bytes();
        for &(hash, rule) in bucket {
            let entry = hash as u32 & 0xffff_0000 | u32::from(rule);
            slots[slot_of(hash, displacement, mask)] = entry.to_le_bytes();
        }
    }
    Some((displacements, slots))
}
