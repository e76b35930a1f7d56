//! The search for zeros, block by block.

use core::ops::Range;

use crate::limits::BLOCK_SIZE;

const BLOCK: usize = BLOCK_SIZE as usize;

/// The range of a run, and whether it is all zeros.
type Run = (Range<usize>, bool);

/// Returns the runs of blocks in `bytes` that are not all zeros. Only these have to be written to a
/// sparse file.
///
/// # Example
///
/// ```
/// let mut bytes = vec![0; 3 * 4096];
/// bytes[4096] = 1;
/// assert_eq!(hedgerow_snapshot::data_runs(&bytes).collect::<Vec<_>>(), [4096..8192]);
/// ```
pub fn data_runs(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    runs(bytes, 1).filter_map(|(range, is_zero)| (!is_zero).then_some(range))
}

/// Splits `bytes` into alternating runs of zeros and of data.
///
/// Zeros of fewer than `min_blocks` blocks count as data, unless `bytes` is all zeros. The last block
/// may be shorter than the others.
pub(crate) fn runs(bytes: &[u8], min_blocks: usize) -> impl Iterator<Item = Run> {
    let is_zero = |at| is_zero(&bytes[at * BLOCK..bytes.len().min((at + 1) * BLOCK)]);
    runs_of(bytes.len(), min_blocks, is_zero)
}

/// Splits `length` bytes in the same way. `is_zero` says whether a block is zeros.
pub(crate) fn runs_of(
    length: usize,
    min_blocks: usize,
    is_zero: impl Fn(usize) -> bool,
) -> impl Iterator<Item = Run> {
    let is_run = move |zeros: &Range<usize>| {
        zeros.len().div_ceil(BLOCK) >= min_blocks || zeros.len() == length
    };
    let mut stretches = stretches(length, is_zero)
        .map(move |(range, is_zero)| (range.clone(), is_zero && is_run(&range)))
        .peekable();
    core::iter::from_fn(move || {
        let (mut run, is_zero) = stretches.next()?;
        while let Some((next, _)) = stretches.next_if(|next| next.1 == is_zero) {
            run.end = next.end;
        }
        Some((run, is_zero))
    })
}

/// Splits `length` bytes into maximal stretches of blocks that are all zero or all not.
fn stretches(length: usize, is_zero: impl Fn(usize) -> bool) -> impl Iterator<Item = Run> {
    let blocks = length.div_ceil(BLOCK);
    let mut block = 0;
    core::iter::from_fn(move || {
        let first = (block < blocks).then_some(block)?;
        let is_first_zero = is_zero(first);
        block = (first + 1..blocks).find(|at| is_zero(*at) != is_first_zero).unwrap_or(blocks);
        Some((first * BLOCK..length.min(block * BLOCK), is_first_zero))
    })
}

/// Returns whether all bytes are zero. Stops early, since data rarely begins with many zeros.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(64).all(|chunk| chunk.iter().fold(0, |all, byte| all | byte) == 0)
}

/// Returns whether two slices are equal: faster in WebAssembly than `==`, which compares single bytes there.
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let is_same_chunk = |(one, other): (&[u8], &[u8])| {
        one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other)) == 0
    };
    one.len() == other.len() && one.chunks(64).zip(other.chunks(64)).all(is_same_chunk)
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn slices_differ_in_each_byte_and_in_their_lengths() {
        for length in [0, 1, 63, 64, 65, 200] {
            let one: Vec<u8> = (0..length).collect();
            assert!(is_same(&one, &one.clone()));
            for at in 0..one.len() {
                let mut other = one.clone();
                other[at] ^= 0x80;
                assert!(!is_same(&one, &other), "byte {at} of {length}");
                assert!(!is_same(&one, &one[..at]), "{at} of {length} bytes");
            }
        }
    }

    /// Returns the runs of an image with a block per letter, of zeros for `.`.
    fn runs_of(image: &str, min_blocks: usize) -> Vec<Run> {
        let bytes: Vec<u8> =
            image.bytes().flat_map(|letter| vec![letter.wrapping_sub(b'.'); BLOCK]).collect();
        let blocks = |run: Run| (run.0.start / BLOCK..run.0.end / BLOCK, run.1);
        runs(&bytes, min_blocks).map(blocks).collect()
    }

    #[test]
    fn runs_alternate_and_short_zeros_count_as_data() {
        assert_eq!(runs_of("", 1), []);
        assert_eq!(runs_of("..", 3), [(0..2, true)]);
        assert_eq!(
            runs_of(".xx..x", 1),
            [(0..1, true), (1..3, false), (3..5, true), (5..6, false)]
        );
        assert_eq!(runs_of(".xx..x", 2), [(0..3, false), (3..5, true), (5..6, false)]);
        assert_eq!(runs_of(".xx..x.", 3), [(0..7, false)]);
    }

    #[test]
    fn a_shorter_last_block_counts_as_one() {
        let mut bytes = vec![0; 2 * BLOCK + 1];
        bytes[0] = 1;
        assert_eq!(
            runs(&bytes, 2).collect::<Vec<_>>(),
            [(0..BLOCK, false), (BLOCK..2 * BLOCK + 1, true)],
        );
        bytes[2 * BLOCK] = 1;
        assert_eq!(
            runs(&bytes, 1).collect::<Vec<_>>(),
            [(0..BLOCK, false), (BLOCK..2 * BLOCK, true), (2 * BLOCK..2 * BLOCK + 1, false)],
        );
    }
}
