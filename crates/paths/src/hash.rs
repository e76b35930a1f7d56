//! XXH64 of a key under two neighbouring seeds, in one pass over the key.
//!
//! A filter asks for both hashes of every key. Computed together they share the loads and half of
//! the multiplications of each stripe. The algorithm is that of the [xxHash
//! specification](https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).

const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;

/// How many bytes the hash takes at a time, while it has as many.
const STRIPE_LENGTH: usize = 32;

/// The hashes of a key under a filter's seed and under the seed after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyHash {
    /// XXH64 under the seed.
    pub h1: u64,
    /// XXH64 under the seed + 1.
    pub h2: u64,
}

impl KeyHash {
    /// Hashes a key.
    ///
    /// # Complexity
    ///
    /// One pass over the key.
    ///
    /// # Example
    ///
    /// ```
    /// let hash = hedgerow_paths::KeyHash::of(b"", 0);
    /// assert_eq!((hash.h1, hash.h2), (0xef46db3751d8e999, 0xd5afba1336a3be4b));
    /// ```
    #[inline]
    pub fn of(key: &[u8], seed: u64) -> Self {
        let seeds = [seed, seed.wrapping_add(1)];
        let lane = |offset: u64| seeds.map(|seed| seed.wrapping_add(offset));
        let mut lanes = [lane(P1.wrapping_add(P2)), lane(P2), lane(0), lane(P1.wrapping_neg())];
        let (stripes, rest) = key.as_chunks::<STRIPE_LENGTH>();
        for stripe in stripes {
            let (words, _) = stripe.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = round(*lane, u64::from_le_bytes(*word));
            }
        }
        let [h1, h2] = [0, 1].map(|index| {
            let merged = match stripes {
                [] => seeds[index].wrapping_add(P5),
                _ => merge(lanes.map(|lane| lane[index])),
            };
            finish(merged.wrapping_add(key.len() as u64), rest)
        });
        Self { h1, h2 }
    }
}

/// The four lanes of a hash in one.
#[inline]
fn merge(lanes: [u64; 4]) -> u64 {
    let turns = lanes.iter().zip([1, 7, 12, 18]);
    let sum = turns.fold(0_u64, |sum, (lane, turn)| sum.wrapping_add(lane.rotate_left(turn)));
    lanes.iter().fold(sum, |hash, lane| {
        let [mixed, _] = round([0; 2], *lane);
        (hash ^ mixed).wrapping_mul(P1).wrapping_add(P4)
    })
}

/// Takes in what is left after the last stripe, and spreads every bit over all.
#[inline]
fn finish(mut hash: u64, rest: &[u8]) -> u64 {
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        let [mixed, _] = round([0; 2], u64::from_le_bytes(*word));
        hash = (hash ^ mixed).rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
    }
    let (halves, rest) = rest.as_chunks::<4>();
    for half in halves {
        let mixed = u64::from(u32::from_le_bytes(*half)).wrapping_mul(P1);
        hash = (hash ^ mixed).rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
    }
    for byte in rest {
        hash = (hash ^ u64::from(*byte).wrapping_mul(P5)).rotate_left(11).wrapping_mul(P1);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(P2);
    hash = (hash ^ (hash >> 29)).wrapping_mul(P3);
    hash ^ (hash >> 32)
}

/// One word into one lane of both hashes.
#[inline]
fn round(lane: [u64; 2], word: u64) -> [u64; 2] {
    let product = word.wrapping_mul(P2);
    lane.map(|value| value.wrapping_add(product).rotate_left(31).wrapping_mul(P1))
}
