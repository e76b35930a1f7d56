//! The construction of a binary fuse filter.
//!
//! Every key is an equation: its three slots add up (XOR) to its fingerprint. A slot that occurs in
//! a single equation can satisfy it whatever the other two hold, so that equation is set aside and
//! solved last. This is repeated ("peeling") until no such slot is left. With few spare slots, some
//! keys then remain. Deferring one of them usually lets the peeling continue. The deferred equations
//! are rewritten in terms of the slots that satisfy no other equation, and solved by Gaussian
//! elimination.

use alloc::vec::Vec;

use crate::{
    build_error::BuildError,
    fuse::{Fuse, fingerprint},
    limits::{MAX_SEGMENT_LENGTH, MAX_SLOTS},
};

/// Number of multipliers that are tried.
const ATTEMPTS: u64 = 256;

/// Maximum number of deferred keys in an attempt. About 200 are expected at most.
const MAX_DEFERRED: usize = 1024;

/// The slots of a filter, and the mapping of keys to them.
#[derive(Debug)]
pub(crate) struct FuseTable {
    pub(crate) n: u64,
    pub(crate) m: u32,
    pub(crate) l: u32,
    pub(crate) q: u64,
    /// Three bytes for each slot, the most significant first.
    pub(crate) bytes: Vec<u8>,
}

impl FuseTable {
    /// Builds the table of the keys with these hashes. Keys with equal hashes count once.
    pub(crate) fn new(mut hashes: Vec<u64>) -> Result<Self, BuildError> {
        sort_by_segment(&mut hashes, multiplier(0));
        hashes.dedup();
        let n = hashes.len() as u64;
        let (m, l) = dimensions(n).ok_or(BuildError::Slots { keys: n })?;
        Self::with_dimensions(hashes, m, l)
    }

    fn with_dimensions(mut hashes: Vec<u64>, m: u32, l: u32) -> Result<Self, BuildError> {
        let n = hashes.len() as u64;
        for q in (0..ATTEMPTS).map(multiplier) {
            sort_by_segment(&mut hashes, q);
            if let Some(slots) = solve(&hashes, Fuse::new(m, l, q), m as usize) {
                drop(hashes);
                let bytes = slots.iter().flat_map(|slot| slot.to_be_bytes().into_iter().skip(1));
                return Ok(Self { n, m, l, q, bytes: bytes.collect() });
            }
        }
        Err(BuildError::Attempts { attempts: ATTEMPTS })
    }
}

/// Returns the number of slots for `n` keys and the length of a segment, or `None` if there would be
/// too many slots. Longer segments would need more slots; with shorter ones, more keys are deferred.
fn dimensions(n: u64) -> Option<(u32, u32)> {
    let most = u64::from(MAX_SLOTS);
    if n > most {
        return None;
    }
    let cube_root = (1..).take_while(|root| root * root * root <= 8 * n).last().unwrap_or(1);
    let slots = n + n.div_ceil(8) + cube_root + 8;
    let segments = (cube_root + 2).max(slots.div_ceil(u64::from(MAX_SEGMENT_LENGTH)));
    let l = slots.div_ceil(segments);
    let m = segments * l;
    if m > most { None } else { Some((m as u32, l as u32)) }
}

/// Sorts hashes by their first segment under the multiplier `q`. Keys that share slots then lie
/// together in memory, and equal hashes are adjacent.
fn sort_by_segment(hashes: &mut [u64], q: u64) {
    hashes.sort_unstable_by_key(|&h| h.wrapping_mul(q));
}

/// Returns the multiplier of an attempt: an odd number below 2^53.
fn multiplier(attempt: u64) -> u64 {
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (attempt + 1).wrapping_mul(GOLDEN_RATIO);
    (mixed ^ (mixed >> 32)).wrapping_mul(GOLDEN_RATIO) >> 11 | 1
}

/// Returns the slots that satisfy every key, or `None` if this mapping does not allow any.
fn solve(hashes: &[u64], fuse: Fuse, m: usize) -> Option<Vec<u32>> {
    let peeling = Peeling::new(hashes, fuse, m)?.peel()?;
    let mut slots = alloc::vec![0_u32; m];
    if !peeling.deferred.is_empty() {
        peeling.solve_deferred(&mut slots)?;
    }
    for &slot in peeling.order.iter().rev() {
        let h = peeling.key_of(slot);
        let [x, y, z] = fuse.slots(h);
        slots[slot as usize] = fingerprint(h) ^ slots[x] ^ slots[y] ^ slots[z];
    }
    Some(slots)
}

/// Keys that are being peeled.
struct Peeling<'a> {
    hashes: &'a [u64],
    fuse: Fuse,
    /// Number of remaining keys in each slot.
    counts: Vec<u8>,
    /// XOR of the indices of the remaining keys in each slot: the index of the key if there is one.
    keys: Vec<u32>,
    /// Whether each key remains.
    remains: Vec<bool>,
    /// The slot that satisfies each peeled key, in the order of peeling. `keys` holds the key.
    order: Vec<u32>,
    /// Indices of the deferred keys.
    deferred: Vec<u32>,
}

impl<'a> Peeling<'a> {
    /// Counts the keys in each slot. Returns `None` if a slot has more than 255.
    fn new(hashes: &'a [u64], fuse: Fuse, m: usize) -> Option<Self> {
        let (mut counts, mut keys) = (alloc::vec![0_u8; m], alloc::vec![0_u32; m]);
        for (index, &h) in hashes.iter().enumerate() {
            for slot in fuse.slots(h) {
                counts[slot] = counts[slot].checked_add(1)?;
                keys[slot] ^= index as u32;
            }
        }
        let remains = alloc::vec![true; hashes.len()];
        let order = Vec::with_capacity(hashes.len());
        Some(Self { hashes, fuse, counts, keys, remains, order, deferred: Vec::new() })
    }

    /// Returns the hash of the key that a slot of `order` satisfies.
    fn key_of(&self, slot: u32) -> u64 {
        self.hashes[self.keys[slot as usize] as usize]
    }

    /// Peels all keys. Returns `None` if too many have to be deferred.
    fn peel(mut self) -> Option<Self> {
        let mut single = Vec::new();
        for slot in 0..self.counts.len() {
            if self.counts[slot] == 1 {
                single.push(slot as u32);
                self.peel_from(&mut single);
            }
        }
        let mut next = 0;
        while self.order.len() + self.deferred.len() < self.hashes.len() {
            if self.deferred.len() == MAX_DEFERRED {
                return None;
            }
            next += self.remains[next..].iter().position(|&remains| remains)?;
            self.deferred.push(next as u32);
            self.remove(next, None, &mut single);
            self.peel_from(&mut single);
        }
        Some(self)
    }

    /// Peels the keys of slots that have one key, and of those that then have one.
    fn peel_from(&mut self, single: &mut Vec<u32>) {
        while let Some(slot) = single.pop() {
            if self.counts[slot as usize] == 1 {
                self.order.push(slot);
                self.remove(self.keys[slot as usize] as usize, Some(slot), single);
            }
        }
    }

    /// Removes a key from its slots, except that `keys` keeps it at the slot that satisfies it.
    /// Appends the slots that then have one key to `single`.
    #[inline]
    fn remove(&mut self, key: usize, satisfied_by: Option<u32>, single: &mut Vec<u32>) {
        self.remains[key] = false;
        for slot in self.fuse.slots(self.hashes[key]) {
            self.counts[slot] -= 1;
            if Some(slot as u32) == satisfied_by {
                continue;
            }
            self.keys[slot] ^= key as u32;
            if self.counts[slot] == 1 {
                single.push(slot as u32);
            }
        }
    }

    /// Sets the slots that satisfy no peeled key, so that the deferred keys are satisfied. Returns
    /// `None` if they contradict each other.
    fn solve_deferred(&self, slots: &mut [u32]) -> Option<()> {
        let (mut rows, columns) = self.deferred_equations(slots.len());
        for pivot in 0..rows.len() {
            let row = core::mem::take(&mut rows[pivot]);
            match row.first_column() {
                Some(column) => {
                    let others = rows.iter_mut().filter(|other| other.has(column));
                    others.for_each(|other| other.add(&row));
                }
                None if row.sum != 0 => return None,
                None => {}
            }
            rows[pivot] = row;
        }
        for row in rows {
            if let Some(column) = row.first_column() {
                slots[columns[column] as usize] = row.sum;
            }
        }
        Some(())
    }

    /// Returns the equations of the deferred keys in terms of slots that satisfy no peeled key, and
    /// these slots.
    fn deferred_equations(&self, m: usize) -> (Vec<Equation>, Vec<u32>) {
        let words = self.deferred.len().div_ceil(64);
        // The equations in which each slot occurs, as `words` words for each slot.
        let mut occurs = alloc::vec![0_u64; m * words];
        let mut sums: Vec<u32> = Vec::with_capacity(self.deferred.len());
        for (row, &key) in self.deferred.iter().enumerate() {
            let h = self.hashes[key as usize];
            sums.push(fingerprint(h));
            for slot in self.fuse.slots(h) {
                occurs[slot * words + row / 64] ^= 1 << (row % 64);
            }
        }
        // Replaces the slot of each peeled key by its other two slots and its fingerprint.
        for &slot in &self.order {
            let (h, slot) = (self.key_of(slot), slot as usize);
            for word in 0..words {
                let replaced = core::mem::take(&mut occurs[slot * words + word]);
                if replaced == 0 {
                    continue;
                }
                for other in self.fuse.slots(h).into_iter().filter(|&other| other != slot) {
                    occurs[other * words + word] ^= replaced;
                }
                set_bits(replaced).for_each(|bit| sums[word * 64 + bit] ^= fingerprint(h));
            }
        }
        let columns: Vec<u32> = (0..m as u32)
            .filter(|&slot| occurs[slot as usize * words..][..words].iter().any(|&word| word != 0))
            .collect();
        let empty = |sum| Equation { sum, columns: alloc::vec![0; columns.len().div_ceil(64)] };
        let mut rows: Vec<Equation> = sums.into_iter().map(empty).collect();
        for (column, &slot) in columns.iter().enumerate() {
            for (word, &rows_of_word) in occurs[slot as usize * words..][..words].iter().enumerate()
            {
                for bit in set_bits(rows_of_word) {
                    rows[word * 64 + bit].columns[column / 64] |= 1 << (column % 64);
                }
            }
        }
        (rows, columns)
    }
}

/// An equation: the slots of some columns add up to a sum.
#[derive(Default)]
struct Equation {
    sum: u32,
    /// One bit for each column.
    columns: Vec<u64>,
}

impl Equation {
    fn first_column(&self) -> Option<usize> {
        let word = self.columns.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.columns[word].trailing_zeros() as usize)
    }

    fn has(&self, column: usize) -> bool {
        self.columns.get(column / 64).is_some_and(|word| word >> (column % 64) & 1 == 1)
    }

    fn add(&mut self, other: &Self) {
        self.sum ^= other.sum;
        self.columns.iter_mut().zip(&other.columns).for_each(|(word, other)| *word ^= other);
    }
}

/// Returns the positions of the bits that are set.
fn set_bits(word: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |bit| word >> bit & 1 == 1)
}

#[cfg(test)]
mod tests {
    use hedgerow_tests_random::Random;

    use super::*;

    fn holds(table: &FuseTable, hashes: &[u64]) -> bool {
        let fuse = Fuse::new(table.m, table.l, table.q);
        let slot = |slot: usize| {
            let [a, b, c] = [0, 1, 2].map(|byte| u32::from(table.bytes[3 * slot + byte]));
            a << 16 | b << 8 | c
        };
        hashes
            .iter()
            .all(|&h| fuse.slots(h).into_iter().map(slot).fold(0, |a, b| a ^ b) == fingerprint(h))
    }

    #[test]
    fn every_number_of_keys_is_solved_within_the_size_promised() {
        let sizes = (0..300).chain([1_000, 3_000, 10_000, 24_441, 100_000, 300_000]);
        for n in sizes {
            for seed in 0..3 {
                let hashes: Vec<u64> = Random(seed << 32 | n as u64).take(n).collect();
                let table = FuseTable::new(hashes.clone()).unwrap();
                assert!(holds(&table, &hashes), "{n} keys");
                let most = 1.125 * n as f64 + 4.0 * (n as f64).cbrt() + 13.0;
                assert!(f64::from(table.m) <= most, "{n} keys in {} slots", table.m);
            }
        }
    }

    #[test]
    fn keys_that_no_multiplier_arranges_are_refused() {
        let hashes: Vec<u64> = Random(1).take(10).collect();
        let error = FuseTable::with_dimensions(hashes.clone(), 9, 3).unwrap_err();
        assert_eq!(error, BuildError::Attempts { attempts: ATTEMPTS });
        // More keys than a slot can count.
        let many: Vec<u64> = Random(2).take(2_000).collect();
        assert!(FuseTable::with_dimensions(many, 3, 1).is_err());
    }

    #[test]
    fn a_table_has_at_most_the_maximum_number_of_slots() {
        let most = 238_000_000;
        let (m, l) = dimensions(most).unwrap();
        assert!(m <= MAX_SLOTS && l <= MAX_SEGMENT_LENGTH && m % l == 0);
        for n in [239_000_000, u64::MAX] {
            assert_eq!(dimensions(n), None);
        }
    }
}
