//! The table of exact rules: a perfect hash table that finds the one rule a name can equal.
//!
//! ```text
//!  hash           63 … 64-b     │ 63 … 32          │ 31 … 16
//!                 which bucket  │ which slot       │ fingerprint
//!
//!  displacements  one per bucket, xored with the slot number so that no two rules share a slot
//!  slots          the fingerprint of a rule's hash, and the rule's number
//! ```
//!
//! A lookup is two loads and one comparison, however many rules there are, with no branch until a
//! candidate is found. One name in 65,536 that equals no rule is a false candidate.
//!
//! Source: Belazzougui, Botelho and Dietzfelbinger, *Hash, Displace, and Compress* (2009).

use alloc::{vec, vec::Vec};

use crate::layout::{DISPLACEMENT_LENGTH, SLOT_LENGTH, SlotBits};

/// Sentinel for an empty slot; greater than any rule number.
const NO_RULE: u16 = u16::MAX;

/// Seeds tried before the number of slots is doubled.
const SEEDS_PER_SIZE: u64 = 32;

/// A displacement, little-endian.
pub(crate) type Displacement = [u8; DISPLACEMENT_LENGTH];
/// A rule number in the lower half and a fingerprint in the upper, little-endian.
pub(crate) type Slot = [u8; SLOT_LENGTH];

/// A view of the table, in an image or as built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactTable<'a> {
    displacements: &'a [Displacement],
    slots: &'a [Slot],
    bucket_shift: u32,
}

/// The entry of the table for a hash. The caller can test it without a branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) rule: u16,
    pub(crate) is_likely: bool,
}

impl<'a> ExactTable<'a> {
    #[inline]
    pub(crate) fn new(displacements: &'a [u8], slots: &'a [u8], bits: SlotBits) -> Self {
        Self::of(displacements.as_chunks().0, slots.as_chunks().0, bits)
    }

    #[inline]
    fn of(displacements: &'a [Displacement], slots: &'a [Slot], bits: SlotBits) -> Self {
        // Asserted once, so that the compiler drops the bounds checks from lookups.
        assert!(!displacements.is_empty() && !slots.is_empty(), "a table has buckets and slots");
        Self { displacements, slots, bucket_shift: bits.bucket_shift() }
    }

    /// Returns the only rule that a name with this hash can equal.
    #[inline]
    pub(crate) fn candidate(self, hash: u64) -> Candidate {
        let bucket = (hash >> self.bucket_shift) as usize & (self.displacements.len() - 1);
        let displacement = u16::from_le_bytes(self.displacements[bucket]);
        let slot = slot_of(hash, displacement, self.slots.len() - 1);
        let entry = u32::from_le_bytes(self.slots[slot]);
        Candidate { rule: entry as u16, is_likely: (entry ^ hash as u32) >> 16 == 0 }
    }

    /// Iterates over the rules in the slots, in slot order.
    pub(crate) fn rules(self) -> impl Iterator<Item = u16> + 'a {
        let rules = self.slots.iter().map(|slot| u32::from_le_bytes(*slot) as u16);
        rules.filter(|&rule| rule != NO_RULE)
    }
}

#[inline]
fn slot_of(hash: u64, displacement: u16, mask: usize) -> usize {
    ((hash >> 32) as usize ^ usize::from(displacement)) & mask
}

/// A table of exact rules, and the seed of the hash it was built with.
#[derive(Clone, Debug)]
pub(crate) struct BuiltExactTable {
    pub(crate) seed: u64,
    pub(crate) bits: SlotBits,
    pub(crate) displacements: Vec<Displacement>,
    pub(crate) slots: Vec<Slot>,
}

impl BuiltExactTable {
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn as_table(&self) -> ExactTable<'_> {
        ExactTable::of(&self.displacements, &self.slots, self.bits)
    }
}

/// Builds the table for `count` rules, whose hashes under a seed `hashes` returns.
///
/// Rules with the same hash share a slot, which holds the first of them.
pub(crate) fn build(count: usize, hashes: impl Fn(u64) -> Vec<(u64, u16)>) -> BuiltExactTable {
    build_within(u64::MAX, count, hashes)
        .expect("a few seeds are enough to place all hashes in a half-full table")
}

/// Does the same with `seeds` seeds. Returns `None` if none of them places all hashes.
pub(crate) fn build_within(
    seeds: u64,
    count: usize,
    hashes: impl Fn(u64) -> Vec<(u64, u16)>,
) -> Option<BuiltExactTable> {
    let mut bits = SlotBits::for_rules(count);
    for seed in 0..seeds {
        if let Some((displacements, slots)) = place(hashes(seed), bits) {
            return Some(BuiltExactTable { seed, bits, displacements, slots });
        }
        if seed % SEEDS_PER_SIZE == SEEDS_PER_SIZE - 1 {
            bits = bits.doubled();
        }
    }
    None
}

/// Places the hashes of every bucket, the fullest bucket first. Returns `None` if a bucket does
/// not fit.
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
