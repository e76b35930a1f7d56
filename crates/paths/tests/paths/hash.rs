use hedgerow_paths::KeyHash;
use proptest::{collection::vec, prelude::*};
use xxhash_rust::xxh64::xxh64;

#[test]
fn keys_hash_as_in_the_reference_vectors() {
    // From the sanity checks of the xxHash repository: the empty input, and 222 bytes.
    const PRIME32: u64 = 2_654_435_761;
    const PRIME64: u64 = 11_400_714_785_074_694_797;
    let mut generator = PRIME32;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        let byte = (generator >> 56) as u8;
        generator = generator.wrapping_mul(PRIME64);
        byte
    })
    .take(222)
    .collect();
    assert_eq!(KeyHash::of(&[], 0).h1, 0xef46_db37_51d8_e999);
    assert_eq!(KeyHash::of(&bytes[..1], 0).h1, 0xe934_a84a_db05_2768);
    assert_eq!(KeyHash::of(&bytes[..14], 0).h1, 0x8282_dcc4_994e_35c8);
    assert_eq!(KeyHash::of(&bytes, 0).h1, 0xb641_ae8c_b691_c174);
    assert_eq!(KeyHash::of(&bytes, PRIME32).h1, 0x20cb_8ab7_ae10_c14a);
}

#[test]
fn keys_of_every_length_hash_as_in_another_implementation() {
    let bytes: Vec<u8> = (0..300_u32).map(|byte| (byte * 151) as u8).collect();
    for length in 0..=bytes.len() {
        for seed in [0, 1, 1 << 32, u64::MAX] {
            let KeyHash { h1, h2 } = KeyHash::of(&bytes[..length], seed);
            assert_eq!(h1, xxh64(&bytes[..length], seed), "{length} bytes, seed {seed}");
            assert_eq!(h2, xxh64(&bytes[..length], seed.wrapping_add(1)));
        }
    }
}

proptest! {
    #[test]
    fn any_key_hashes_as_in_another_implementation(key in vec(any::<u8>(), 0..500), seed: u64) {
        let KeyHash { h1, h2 } = KeyHash::of(&key, seed);
        prop_assert_eq!(h1, xxh64(&key, seed));
        prop_assert_eq!(h2, xxh64(&key, seed.wrapping_add(1)));
    }
}
