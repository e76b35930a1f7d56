//! Fuse filters: builds, queries and files.

use hedgerow_paths::{
    BuildError, KeyHash, Kind, MAX_INTEGER, PathFilter, PathFilterBuilder, Query,
};
use hedgerow_tests_random::Random;
use proptest::{collection::vec, prelude::*};
use xxhash_rust::xxh64::xxh64;

use crate::support::{
    generate::{fuse_builder, key},
    oracle,
};

fn builder() -> PathFilterBuilder {
    PathFilterBuilder::new().kind(Kind::Fuse)
}

proptest! {
    #[test]
    fn queries_of_fuse_filters_agree_with_the_oracle(
        builder in fuse_builder(),
        keys in vec(key(), 0..200),
        others in vec(key(), 0..40),
    ) {
        let file = builder.build(&keys).unwrap();
        let naive = oracle::Filter::read(&file);
        for filter in [PathFilter::parse(&file).unwrap(), PathFilter::parse_trusted(&file).unwrap()] {
            for key in keys.iter().chain(&others) {
                prop_assert_eq!(filter.has(key), naive.has(key));
                prop_assert_eq!(filter.has_hash(KeyHash::of(key, filter.seed())), naive.has(key));
            }
            prop_assert!(keys.iter().all(|key| filter.has(key)));
            prop_assert_eq!(filter.bits_set(), naive.bits_set());
            prop_assert_eq!(filter.false_positive_rate(), 2_f64.powi(-24));
            let params = filter.params();
            prop_assert_eq!((params.kind, params.p, params.k), (Kind::Fuse, 2_f64.powi(-24), 3));
            prop_assert_eq!((params.n, u64::from(params.m)), (naive.number("n"), naive.number("m")));
            prop_assert_eq!(params.s, naive.number("s"));
        }
    }

    #[test]
    fn order_and_duplicates_make_no_difference_to_a_fuse_filter(
        builder in fuse_builder(),
        (keys, shuffled) in vec(key(), 0..40).prop_flat_map(|keys| {
            let doubled = [keys.clone(), keys.clone()].concat();
            (Just(keys), Just(doubled).prop_shuffle())
        }),
    ) {
        let file = builder.build(&keys);
        prop_assert_eq!(&file, &builder.build(&shuffled));
        let mut distinct = keys.clone();
        distinct.sort();
        distinct.dedup();
        let count = distinct.len() as u64;
        prop_assert_eq!(oracle::Filter::read(file.as_ref().unwrap()).number("n"), count);
        prop_assert_eq!(&file, &builder.build_counted(count, &keys));
    }
}

#[test]
fn a_fuse_filter_of_no_keys_or_of_one_key_is_read() {
    let file = builder().build::<&str>([]).unwrap();
    let filter = PathFilter::parse(&file).unwrap();
    assert_eq!((filter.params().n, filter.bits_set(), filter.wildcards()), (0, 0, 0));
    assert!(!filter.has(b"/"));
    for key in ["", "/", "/a/*"] {
        let file = builder().build([key, key]).unwrap();
        let filter = PathFilter::parse(&file).unwrap();
        assert_eq!((filter.params().n, filter.has(key.as_bytes())), (1, true));
        assert!(!filter.has(b"/other"));
        assert_eq!(filter.wildcards(), if key.ends_with('*') { 2 } else { 0 });
    }
}

#[test]
fn a_fuse_filter_is_as_small_as_promised() {
    let size = |count| builder().build(Random(1).take(count).map(u64::to_le_bytes)).unwrap().len();
    assert!(size(10) <= 300, "{}", size(10));
    let site = size(24_441) as f64 / 24_441.0;
    assert!(site <= 4.6, "{site}");
}

/// Returns the key of eight bytes that has this hash.
fn key_with_hash(mut hash: u64, seed: u64) -> [u8; 8] {
    const P1: u64 = 0x9e37_79b1_85eb_ca87;
    const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
    const P3: u64 = 0x1656_67b1_9e37_79f9;
    const P4: u64 = 0x85eb_ca77_c2b2_ae63;
    const P5: u64 = 0x27d4_eb2f_1656_67c5;
    let inverse = |odd: u64| {
        (0..6).fold(odd, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)))
        })
    };
    hash = (hash ^ (hash >> 32)).wrapping_mul(inverse(P3));
    hash = (hash ^ (hash >> 29) ^ (hash >> 58)).wrapping_mul(inverse(P2));
    hash ^= hash >> 33;
    let mixed = hash.wrapping_sub(P4).wrapping_mul(inverse(P1)).rotate_right(27);
    let lane = mixed ^ seed.wrapping_add(P5).wrapping_add(8);
    let word = lane.wrapping_mul(inverse(P1)).rotate_right(31).wrapping_mul(inverse(P2));
    word.to_le_bytes()
}

#[test]
fn different_keys_with_equal_hashes_count_once_in_a_fuse_filter() {
    for seed in [0, 7, MAX_INTEGER] {
        let twin = key_with_hash(xxh64(b"/about", seed), seed);
        assert_eq!(xxh64(&twin, seed), xxh64(b"/about", seed));
        let keys: [&[u8]; 3] = [b"/about", &twin, b"/"];
        let file = builder().seed(seed).build(keys).unwrap();
        let filter = PathFilter::parse(&file).unwrap();
        assert_eq!(filter.params().n, 2);
        assert!(keys.iter().all(|key| filter.has(key)));
    }
}

#[test]
fn more_keys_than_the_given_count_are_refused_in_a_fuse_filter() {
    assert!(builder().build_counted(2, ["/a", "/b", "/a"]).is_ok());
    let error = builder().build_counted(2, ["/a", "/b", "/c"]).unwrap_err();
    assert_eq!(error, BuildError::TooManyKeys { expected: 2 });
    assert!(builder().seed(MAX_INTEGER + 1).build(["/"]).is_err());
    let errors = [BuildError::Slots { keys: 9 }, BuildError::Attempts { attempts: 256 }];
    let messages = [
        "expected keys for at most 268435456 slots, found 9 keys",
        "no arrangement of the keys was found in 256 attempts: choose another seed",
    ];
    assert_eq!(errors.map(|error| error.to_string()), messages);
}

#[test]
fn a_built_fuse_filter_can_be_assembled_from_its_parts() {
    let mut keys = builder().seed(3).collect().unwrap();
    keys.insert(b"/a");
    keys.insert(b"/b/*");
    let built = keys.build().unwrap();
    let (l, q) = built.segments();
    assert_eq!((built.n(), built.k(), built.m() % l, built.wildcards()), (2, 3, 0, 2));
    let query = Query::fuse(built.m(), l, q, 3).unwrap();
    assert!(query.has(built.body().as_bytes(), b"/a"));
    assert!(!query.has(built.body().as_bytes(), b"/b"));
}

#[test]
fn a_query_of_numbers_beyond_their_limits_is_refused() {
    assert!(Query::bloom(0, 1, 0).is_none());
    assert!(Query::bloom(1, 0, 0).is_none());
    assert!(Query::bloom(1, 65, 0).is_none());
    assert!(Query::fuse(6, 0, 1, 0).is_none());
    assert!(Query::fuse(6, 3, 1, 0).is_none());
    assert!(Query::fuse(10, 3, 1, 0).is_none());
    assert!(Query::fuse(3 << 17, 1 << 17, 1, 0).is_none());
    assert!(Query::fuse(u32::MAX, 1, 1, 0).is_none());
    // A body that is too short has no keys, whatever its query claims.
    assert!(!Query::fuse(1 << 28, 1 << 16, 3, 0).unwrap().has(b"AAAA", b"/a"));
    assert!(!Query::bloom(u32::MAX, 64, 0).unwrap().has(b"AAAA", b"/a"));
}

/// Counts how many of 2^26 random hashes a filter of `n` keys reports: 4 are expected.
fn false_positives(n: usize) -> usize {
    let file = builder().build(Random(n as u64).take(n).map(u64::to_le_bytes)).unwrap();
    let filter = PathFilter::parse(&file).unwrap();
    let has = |h1: &u64| filter.has_hash(KeyHash { h1: *h1, h2: 0 });
    Random(1 << 40).take(1 << 26).filter(has).count()
}

#[test]
fn fuse_filters_of_any_size_keep_the_rate() {
    let found: usize = [0, 1, 10, 1_000].into_iter().map(false_positives).sum();
    assert!((2..=40).contains(&found), "{found} instead of 16");
}

#[test]
fn bytes_outside_base64_in_a_trusted_fuse_filter_are_zero_bits() {
    let keys: Vec<String> = (0..9).map(|number| format!("/{number}")).collect();
    let file = builder().build(&keys).unwrap();
    let body = file.iter().position(|&byte| byte == b'\n').unwrap() + 2;
    for at in body..file.len() - 1 {
        let (mut damaged, mut zero) = (file.clone(), file.clone());
        damaged[at] = b'-';
        zero[at] = b'A';
        assert!(PathFilter::parse(&damaged).is_err());
        let damaged = PathFilter::parse_trusted(&damaged).unwrap();
        let zero = PathFilter::parse(&zero).unwrap();
        for key in &keys {
            assert_eq!(damaged.has(key.as_bytes()), zero.has(key.as_bytes()), "at byte {at}");
        }
    }
}

#[test]
fn every_truncation_of_a_fuse_filter_is_refused_and_every_flipped_bit_answered() {
    let file = builder().version("t").build(["/a", "/b", "/c/*"]).unwrap();
    for length in 0..file.len() {
        assert!(PathFilter::parse(&file[..length]).is_err(), "{length} bytes");
        assert!(PathFilter::parse_trusted(&file[..length]).is_err(), "{length} bytes");
    }
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut flipped = file.clone();
            flipped[at] ^= 1 << bit;
            for filter in [PathFilter::parse(&flipped), PathFilter::parse_trusted(&flipped)] {
                match filter {
                    Err(error) => assert!(error.offset <= file.len()),
                    Ok(filter) => {
                        filter.has(b"/a");
                        let _ = (filter.params(), filter.version(), filter.bits_set());
                    }
                }
            }
        }
    }
}
