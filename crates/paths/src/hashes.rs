//! The hashes of keys whose number is not known yet, in 16 bytes each.

use alloc::{collections::BinaryHeap, vec::Vec};
use core::cmp::Reverse;

use crate::hash::KeyHash;

/// How many hashes a chunk holds: 1 MiB. Only the first one grows.
const CHUNK_LENGTH: usize = 1 << 16;

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

    /// How many different ones there are. Sorts each chunk, and merges them.
    pub(crate) fn count_distinct(&mut self) -> u64 {
        let mut heads = BinaryHeap::with_capacity(self.chunks.len());
        for chunk in &mut self.chunks {
            chunk.sort_unstable();
            heads.extend(chunk.split_first().map(Reverse));
        }
        let (mut count, mut last) = (0, None);
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((hash, rest)) = *head;
            count += u64::from(last != Some(*hash));
            last = Some(*hash);
            match rest.split_first() {
                Some(next) => *head = Reverse(next),
                None => drop(alloc::collections::binary_heap::PeekMut::pop(head)),
            }
        }
        count
    }
}
