//! Telling what is zero from what is not, block by block.

use core::ops::Range;

use crate::limits::BLOCK_SIZE;

const BLOCK: usize = BLOCK_SIZE as usize;

/// Where a run lies, and whether it is nothing but zeros.
type Run = (Range<usize>, bool);

/// The runs of blocks in `bytes` that are not all zeros. What is between them need not be written to a
/// file that is sparse.
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

/// Splits `bytes` into runs that are all zeros and runs that are to be kept, which take turns.
///
/// Zeros of fewer than `least` blocks belong to what is kept beside them, unless there is nothing
/// else. The last block may be shorter than the others.
pub(crate) fn runs(bytes: &[u8], least: usize) -> impl Iterator<Item = Run> {
    let is_run = move |zeros: &Range<usize>| {
        zeros.len().div_ceil(BLOCK) >= least || zeros.len() == bytes.len()
    };
    let mut stretches = stretches(bytes)
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

/// The longest stretches of blocks that are zero or are not.
fn stretches(bytes: &[u8]) -> impl Iterator<Item = Run> {
    let mut start = 0;
    core::iter::from_fn(move || {
        let mut blocks = bytes[start..].chunks(BLOCK);
        let first = blocks.next()?;
        let is_first_zero = is_zero(first);
        let same = blocks.take_while(|block| is_zero(block) == is_first_zero);
        let range = start..start + first.len() + same.map(<[u8]>::len).sum::<usize>();
        start = range.end;
        Some((range, is_first_zero))
    })
}

/// Whether all bytes are zero. Of what is not, the first bytes mostly show it.
fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(64).all(|chunk| chunk.iter().fold(0, |all, byte| all | byte) == 0)
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// The runs of an image that has a block for each letter, of zeros where it is `.`.
    fn runs_of(image: &str, least: usize) -> Vec<Run> {
        let bytes: Vec<u8> =
            image.bytes().flat_map(|letter| vec![letter.wrapping_sub(b'.'); BLOCK]).collect();
        let blocks = |run: Run| (run.0.start / BLOCK..run.0.end / BLOCK, run.1);
        runs(&bytes, least).map(blocks).collect()
    }

    #[test]
    fn runs_take_turns_and_short_zeros_are_kept() {
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
