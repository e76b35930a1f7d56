use hedgerow_paths::{KeyHash, PathFilter, PathFilterBuilder};
use hedgerow_tests_random::Random;
use proptest::{collection::vec, prelude::*};

use crate::support::{
    generate::{builder, key},
    oracle,
};

proptest! {
    #[test]
    fn queries_agree_with_the_oracle(
        builder in builder(),
        keys in vec(key(), 0..40),
        others in vec(key(), 0..40),
    ) {
        let file = builder.build(&keys).unwrap();
        let naive = oracle::Filter::read(&file);
        let owned = PathFilter::from_vec(file.clone(), true).unwrap();
        let filters = [
            PathFilter::parse(&file).unwrap(),
            PathFilter::parse_trusted(&file).unwrap(),
            owned.clone(),
            owned,
        ];
        for filter in filters {
            for key in keys.iter().chain(&others) {
                prop_assert_eq!(filter.has(key), naive.has(key));
                let hash = KeyHash::of(key, filter.seed());
                prop_assert_eq!(filter.has_hash(hash), naive.has(key));
            }
            for key in &keys {
                prop_assert!(filter.has(key));
            }
            prop_assert_eq!(filter.file(), &file);
            prop_assert_eq!(filter.bits_set(), naive.bits_set());
            let params = filter.params();
            prop_assert_eq!(params.n, naive.number("n"));
            prop_assert_eq!(u64::from(params.m), naive.number("m"));
            prop_assert_eq!(u64::from(params.k), naive.number("k"));
            prop_assert_eq!(params.s, naive.number("s"));
            prop_assert_eq!(Some(params.p), naive.header["bloom"]["p"].as_f64());
        }
    }
}

/// Queries ten million keys in total.
#[test]
fn no_key_of_a_filter_is_absent() {
    let sizes = [
        (1, 1e-7, 2_000),
        (7, 0.5, 2_000),
        (100, 1e-2, 2_000),
        (10_000, 1e-4, 100),
        (1_000_000, 1e-7, 5),
        (3_800_000, 0.03, 1),
    ];
    let mut random = Random(3);
    let mut keys = 0;
    for (count, rate, filters) in sizes {
        for _ in 0..filters {
            let builder = PathFilterBuilder::new().false_positive_rate(rate);
            let first = random.next().unwrap();
            let inserted = || Random(first).take(count).map(u64::to_le_bytes);
            let file = builder.build_counted(count as u64, inserted()).unwrap();
            let filter = PathFilter::parse(&file).unwrap();
            assert!(inserted().all(|key| filter.has(&key)), "n = {count}, p = {rate}");
            keys += count;
        }
    }
    assert!(keys >= 10_000_000, "{keys}");
}

#[test]
fn bytes_outside_base64_in_a_trusted_file_are_zero_bits() {
    let file = PathFilterBuilder::new().build(["/a"]).unwrap();
    for at in (0..file.len() - 1).rev().take_while(|&at| file[at] != b'"') {
        let mut damaged = file.clone();
        damaged[at] = b'-';
        assert!(PathFilter::parse(&damaged).is_err() || file[at] == b'=');
        let filter = PathFilter::parse_trusted(&damaged).unwrap();
        assert_eq!(filter.has(b"/a"), matches!(file[at], b'A' | b'='), "at byte {at}");
    }
}

#[test]
fn the_predicted_rate_is_near_the_requested_one() {
    for (count, rate) in [(10, 1e-2), (1_000, 1e-4), (100_000, 1e-7)] {
        let keys = Random(9).take(count).map(u64::to_le_bytes);
        let file = PathFilterBuilder::new().false_positive_rate(rate).build(keys).unwrap();
        let expected = PathFilter::parse(&file).unwrap().false_positive_rate();
        assert!((0.6..1.1).contains(&(expected / rate)), "n = {count}: {expected}");
    }
}
