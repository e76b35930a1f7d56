//! The number of bits of a filter, and the false-positive rate to expect.

use core::f64::consts::LN_2;

use crate::{
    limits::{MAX_BITS, MAX_FALSE_POSITIVE_RATE, MIN_FALSE_POSITIVE_RATE},
    prime::next_prime,
};

/// How the number of bits is computed from the number of keys and the false-positive rate.
///
/// # Example
///
/// ```
/// use hedgerow_paths::Sizing;
///
/// assert_eq!(Sizing::Classic.bits(10, 1e-7), Some(336));
/// assert_eq!(Sizing::Promised.bits(10, 1e-7), Some(11_159));
/// assert_eq!(Sizing::Promised.bits(1_000_000, 1e-7), Some(33_802_519));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sizing {
    /// Enough bits for random paths to meet the rate, whatever the number of keys: a prime number,
    /// greater than [`Classic`](Self::Classic) where double hashing would exceed the rate.
    #[default]
    Promised,
    /// The published formula, `ceil(-n·ln p / (ln 2)² / 24) · 24`, which assumes that the bits of a
    /// key are independent. Small filters exceed the rate by orders of magnitude.
    Classic,
    /// This number of bits.
    Bits(u32),
}

/// Margin for the error of the model, measured over n = 2 … 1,000,000 and p = 0.5 … 1e-7. For a
/// single key the error is up to 11 %.
const MARGIN: f64 = 0.92;

impl Sizing {
    /// Returns the number of bits for `n` keys (0 counts as 1) at the rate `p`, or `None` if it
    /// exceeds [`MAX_BITS`] or `p` is outside [`MIN_FALSE_POSITIVE_RATE`] to
    /// [`MAX_FALSE_POSITIVE_RATE`].
    pub fn bits(self, n: u64, p: f64) -> Option<u32> {
        if !(MIN_FALSE_POSITIVE_RATE..=MAX_FALSE_POSITIVE_RATE).contains(&p) {
            return None;
        }
        match self {
            Self::Promised => promised(n.max(1), p),
            Self::Classic => classic(n.max(1), p),
            Self::Bits(bits) => Some(bits),
        }
    }
}

/// Returns the number of bits per key: `round(-log2 p)`, and at least 1.
pub(crate) fn hashes(p: f64) -> u32 {
    // The cast truncates.
    (0.5 - libm::log(p) / LN_2).max(1.0) as u32
}

fn classic(n: u64, p: f64) -> Option<u32> {
    let groups = -(n as f64) * libm::log(p) / (LN_2 * LN_2) / 24.0;
    let whole = groups as u64;
    let bits = whole.saturating_add(u64::from(groups > whole as f64)).checked_mul(24)?;
    u32::try_from(bits).ok()
}

/// Returns the smallest prime, not below the classic size, at which the model predicts at most `p`.
fn promised(n: u64, p: f64) -> Option<u32> {
    let k = hashes(p);
    let holds = |bits: u32| expected_rate(fill(n, bits, k), n, bits, k) <= MARGIN * p;
    let (mut low, mut high) = (classic(n, p)?, MAX_BITS);
    if !holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    next_prime(low)
}

/// Returns the expected share of `m` bits that `n` keys of `k` bits set.
fn fill(n: u64, m: u32, k: u32) -> f64 {
    1.0 - libm::exp(-(n as f64) * f64::from(k) / f64::from(m))
}

/// Returns the false-positive rate to expect for random paths, in a filter of `m` bits of which `n`
/// keys of `k` bits set the share `fill`.
///
/// If the bits of a key were independent, the rate would be `fill^k`. Double hashing adds two cases
/// in which a key has fewer than `k` bits that are independent of each other and of other keys:
///
/// - **Short cycles.** The bits of a key lie on a circle of `m` positions, one step apart, and the
///   sum sometimes wraps around at 2^64. If `c` wraps cancel `j` steps, which happens for one step
///   in `m` for each `c` and `j`, the bits return to `j` positions. They drift away from them the
///   more slowly, the closer the step is to c/j of 2^64:
///   `2/(k·m·ln(1/fill)) · Σ φ(j)/j · fill^j`. The sum is computed to its third term, and the rest
///   is bounded by a geometric series.
/// - **Shared cycles.** A key of the filter has the same step and lies on the same circle, shifted
///   by a few steps or reversed: `(1/2 + 3/k)·n/m²`. The factor is measured.
pub(crate) fn expected_rate(fill: f64, n: u64, m: u32, k: u32) -> f64 {
    if fill <= 0.0 || fill >= 1.0 {
        return fill;
    }
    let independent = (0..k).fold(1.0, |product, _| product * fill);
    if k == 1 {
        return independent;
    }
    let (k, m) = (f64::from(k), f64::from(m));
    let cycles = fill + fill * fill / 2.0 + 2.0 / 3.0 * fill * fill * fill / (1.0 - fill);
    let short = 2.0 * cycles / (k * m * -libm::log(fill));
    let shared = (0.5 + 3.0 / k) * n as f64 / (m * m);
    (independent + short + shared).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_sizes_are_the_published_ones() {
        assert_eq!(Sizing::Classic.bits(10, 1e-7), Some(336));
        assert_eq!(Sizing::Classic.bits(1_000_000, 1e-7), Some(33_547_728));
        assert_eq!(hashes(1e-7), 23);
        assert_eq!(hashes(0.5), 1);
        assert_eq!(hashes(1e-18), 60);
    }

    #[test]
    fn promised_sizes_are_never_below_classic_ones() {
        for n in [0, 1, 2, 10, 1_000, 1_000_000] {
            for p in [0.5, 0.3, 0.01, 1e-4, 1e-7, 1e-12] {
                let (promised, classic) = (Sizing::Promised.bits(n, p), Sizing::Classic.bits(n, p));
                assert!(promised >= classic, "n = {n}, p = {p}: {promised:?}, {classic:?}");
            }
        }
    }

    #[test]
    fn sizes_beyond_the_limits_are_none() {
        for sizing in [Sizing::Classic, Sizing::Promised] {
            assert!(sizing.bits(127_000_000, 1e-7).is_some());
            assert_eq!(sizing.bits(129_000_000, 1e-7), None);
            assert_eq!(sizing.bits(u64::MAX, 0.5), None);
            assert_eq!(sizing.bits(u64::MAX, 1e-18), None);
            for p in [0.0, -1.0, 0.6, 1.0, f64::NAN, f64::INFINITY] {
                assert_eq!(sizing.bits(10, p), None);
            }
        }
    }
}
