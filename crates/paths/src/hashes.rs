//! A list of key hashes that grows without copying.

use alloc::vec::Vec;

use crate::hash::KeyHash;

/// Hashes per chunk: 1 MiB of pairs. Only the first chunk is reallocated as it grows.
const CHUNK_LENGTH: usize = 1 << 16;

/// Buckets for counting distinct hashes. One bucket at a time is copied and sorted.
const BUCKETS: usize = 1 << 10;

/// Hashes in chunks, so that growth moves none and leaves at most one chunk unused.
pub(crate) struct Hashes<T> {
    chunks: Vec<Vec<T>>,
}

impl<T: Copy> Hashes<T> {
    pub(crate) fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    pub(crate) fn push(&mut self, hash: T) {
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        self.chunks.iter().flatten().copied()
    }

    /// Returns the hashes as one list. Frees each chunk after copying it.
    pub(crate) fn into_vec(self) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len() as usize);
        for chunk in self.chunks {
            all.extend(chunk);
        }
        all
    }
}

impl Hashes<KeyHash> {
    /// Counts the distinct hashes.
    ///
    /// Sorts the hashes into buckets in place, then sorts and counts each bucket.
    pub(crate) fn count_distinct(&mut self) -> u64 {
        let ends = self.sort_by_bucket();
        let (mut count, mut start, mut bucket) = (0, 0, Vec::new());
        for end in ends {
            bucket.clear();
            // In pieces, because a very frequent key can put nearly all hashes in one bucket.
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

    /// Sorts by [`bucket_of`] in place, and returns the end of each bucket. Every step of the inner
    /// loop moves one hash to its final bucket.
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
                    let index = &mut next[bucket_of(hash)];
                    hash = core::mem::replace(self.at_mut(*index), hash);
                    *index += 1;
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

/// Returns the bucket of a hash.
fn bucket_of(hash: KeyHash) -> usize {
    (hash.h1 >> 32) as usize % BUCKETS
}
