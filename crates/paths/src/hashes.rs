//! The hashes of keys whose number is not known yet, in 16 bytes each.

use alloc::vec::Vec;

use crate::hash::KeyHash;

/// How many hashes a chunk holds: 1 MiB. Only the first one grows.
const CHUNK_LENGTH: usize = 1 << 16;

/// In how many buckets hashes are counted. One at a time is copied, to be sorted.
const BUCKETS: usize = 1 << 10;

/// Hashes in chunks, so that none is moved and no more than one chunk is left unused.
#[derive(Default)]
pub(crate) struct Hashes {
    chunks: Vec<Vec<KeyHash>>,
}

impl Hashes {
    pub(crate) fn push(&mut self, hash: KeyHash) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK_LENGTH => chunk.push(hash),
            last => {
                let capacity = if last.is_some() { CHUNK_LENGTH } else { 0 };
                let mut chunk = Vec::with_capacity(capacity);
                chunk.push(hash);
                self.chunks.push(chunk);
            }
        }
    }

    pub(crate) fn len(&self) -> u64 {
        let full = self.chunks.len().saturating_sub(1) * CHUNK_LENGTH;
        (full + self.chunks.last().map_or(0, Vec::len)) as u64
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = KeyHash> {
        self.chunks.iter().flatten().copied()
    }

    /// How many different ones there are.
    ///
    /// Brings them in the order of their first bits, in place, and then counts those that have these
    /// bits in common.
    pub(crate) fn count_distinct(&mut self) -> u64 {
        let ends = self.sort_by_bucket();
        let (mut count, mut start, mut bucket) = (0, 0, Vec::new());
        for end in ends {
            bucket.clear();
            // In pieces: where one key comes very often, its bucket has nearly all hashes.
            for piece in (start..end).step_by(CHUNK_LENGTH) {
                let piece_end = end.min(piece + CHUNK_LENGTH);
                bucket.extend((piece..piece_end).map(|index| self.at(index)));
                bucket.sort_unstable();
                bucket.dedup();
            }
            count += bucket.len() as u64;
            start = end;
        }
        count
    }

    /// Sorts by [`bucket_of`], and returns where each bucket ends. Every step of the inner loop puts
    /// one hash where it belongs.
    fn sort_by_bucket(&mut self) -> Vec<usize> {
        let mut ends = alloc::vec![0; BUCKETS];
        self.iter().for_each(|hash| ends[bucket_of(hash)] += 1);
        let mut sum = 0;
        let mut next: Vec<usize> = ends
            .iter_mut()
            .map(|end| {
                let start = sum;
                sum += *end;
                *end = sum;
                start
            })
            .collect();
        for bucket in 0..BUCKETS {
            while next[bucket] < ends[bucket] {
                let mut hash = self.at(next[bucket]);
                while bucket_of(hash) != bucket {
                    let place = &mut next[bucket_of(hash)];
                    hash = core::mem::replace(self.at_mut(*place), hash);
                    *place += 1;
                }
                *self.at_mut(next[bucket]) = hash;
                next[bucket] += 1;
            }
        }
        ends
    }

    fn at(&self, index: usize) -> KeyHash {
        self.chunks[index / CHUNK_LENGTH][index % CHUNK_LENGTH]
    }

    fn at_mut(&mut self, index: usize) -> &mut KeyHash {
        &mut self.chunks[index / CHUNK_LENGTH][index % CHUNK_LENGTH]
    }
}

/// The bucket that a hash belongs in.
fn bucket_of(hash: KeyHash) -> usize {
    (hash.h1 >> 32) as usize % BUCKETS
}
