//! Conversion of digests to and from the words of a record.

use hedgerow_snapshot::Digest;

/// Writes a digest to the words of a record.
pub(crate) fn to_words(digest: &Digest, words: &mut [u64]) {
    let (from, _) = digest.as_bytes().as_chunks();
    for (word, from) in words.iter_mut().zip(from) {
        *word = u64::from_le_bytes(*from);
    }
}

/// Reads a digest from the words of a record.
pub(crate) fn from_words(words: &[u64]) -> Digest {
    let mut bytes = [0; Digest::LENGTH];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    Digest::from_bytes(bytes)
}
