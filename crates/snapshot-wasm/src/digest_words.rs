//! A digest in the records that cross the border.

use hedgerow_snapshot::Digest;

/// Writes a digest to the words that a record has for it.
pub(crate) fn to_words(digest: &Digest, words: &mut [u64]) {
    let (from, _) = digest.as_bytes().as_chunks();
    for (word, from) in words.iter_mut().zip(from) {
        *word = u64::from_le_bytes(*from);
    }
}

/// The digest that was written to words.
pub(crate) fn from_words(words: &[u64]) -> Digest {
    let mut bytes = [0; Digest::LENGTH];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    Digest::from_bytes(bytes)
}
