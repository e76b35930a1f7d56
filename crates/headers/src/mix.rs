//! A mixing function for 64-bit words.

/// Returns the output of SplitMix64 for a state (Steele, Lea and Flood, *Fast Splittable
/// Pseudorandom Number Generators*, 2014).
pub(crate) fn mix(state: u64) -> u64 {
    let mut word = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
