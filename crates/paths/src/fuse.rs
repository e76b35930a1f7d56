//! Queries of a binary fuse filter, whose slots of 24 bits are four characters of Base64 each.

use crate::alphabet::bits_of;

/// Characters of a slot.
const SLOT_LENGTH: usize = 4;

/// The mapping of keys to slots: consecutive segments of equal length. A key has one slot in each of
/// three adjacent segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fuse {
    /// Number of segments that can be the first of a key.
    starts: u64,
    /// Length of a segment in slots.
    l: u64,
    /// Multiplier of the hashes.
    q: u64,
}

impl Fuse {
    /// Creates the mapping of a filter of `m` slots, at least three segments of `l` slots.
    pub(crate) fn new(m: u32, l: u32, q: u64) -> Self {
        Self { starts: u64::from(m / l - 2), l: u64::from(l), q }
    }

    /// Returns the slots of the key with the hash `h`.
    ///
    /// The product of the hash has two halves of 32 bits, read as fractions below 1. The first half
    /// selects the first segment and the slot in it; the second half the slots in the other two.
    #[inline]
    pub(crate) fn slots(self, h: u64) -> [usize; 3] {
        let Self { starts, l, q } = self;
        let product = h.wrapping_mul(q);
        let (start, rest) = split((product >> 32) * starts);
        let (first, _) = split(rest * l);
        let (second, rest) = split(u64::from(product as u32) * l);
        let (third, _) = split(rest * l);
        let start = start * l;
        [start + first, start + l + second, start + 2 * l + third].map(|slot| slot as usize)
    }

    /// Returns whether the slots of a key in `body` add up to its fingerprint.
    ///
    /// Reads all characters before it compares: a branch for each would often be mispredicted.
    #[inline]
    pub(crate) fn has(self, body: &[u8], h: u64) -> bool {
        let (slots, _) = body.as_chunks::<SLOT_LENGTH>();
        let [x, y, z] = self.slots(h).map(|slot| slots.get(slot).copied().unwrap_or_default());
        let bits = |index| bits_of(x[index]) ^ bits_of(y[index]) ^ bits_of(z[index]);
        (0..SLOT_LENGTH).fold(0, |sum, index| sum << 6 | u32::from(bits(index))) == fingerprint(h)
    }
}

/// Returns the fingerprint of the key with the hash `h`: 24 bits that do not depend on the slots.
#[inline]
pub(crate) fn fingerprint(h: u64) -> u32 {
    (h >> 40) as u32
}

/// Splits a product into its integer and its fraction, in units of 2^-32.
#[inline]
fn split(product: u64) -> (u64, u64) {
    (product >> 32, u64::from(product as u32))
}
