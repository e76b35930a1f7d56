use hedgerow_paths::{BuildError, MAX_BITS, MAX_INTEGER, PathFilter, PathFilterBuilder, Sizing};
use hedgerow_tests_random::Random;
use proptest::{collection::vec, prelude::*};

use crate::support::{
    generate::{builder, key},
    oracle,
};

proptest! {
    #[test]
    fn a_file_has_the_bits_of_the_oracle(builder in builder(), keys in vec(key(), 0..40)) {
        let filter = oracle::Filter::read(&builder.build(&keys).unwrap());
        let mut distinct = keys.clone();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(filter.number("n"), distinct.len() as u64);
        let file = builder.build(&keys).unwrap();
        let body = oracle::body(&keys, filter.number("m"), filter.number("k"), filter.number("s"));
        let line_2 = format!("\n\"{body}\"");
        prop_assert!(file.ends_with(line_2.as_bytes()));
    }

    #[test]
    fn order_and_duplicates_make_no_difference(
        builder in builder(),
        (keys, shuffled) in vec(key(), 0..40).prop_flat_map(|keys| {
            let doubled = [keys.clone(), keys.clone()].concat();
            (Just(keys), Just(doubled).prop_shuffle())
        }),
    ) {
        prop_assert_eq!(builder.build(&keys), builder.build(&shuffled));
    }

    #[test]
    fn a_known_count_gives_the_same_file(builder in builder(), mut keys in vec(key(), 0..40)) {
        keys.sort();
        keys.dedup();
        let counted = builder.build_counted(keys.len() as u64, keys.iter().chain(&keys));
        prop_assert_eq!(counted, builder.build(&keys));
    }

    #[test]
    fn a_header_has_the_options_of_the_builder(version in "\\PC{0,20}|[\\x00-\\x20\"\\\\]{0,5}") {
        let file = PathFilterBuilder::new().version(&version).seed(7).build(["/a/b/*"]).unwrap();
        let filter = oracle::Filter::read(&file);
        prop_assert_eq!(filter.header["version"].as_str(), Some(&*version));
        prop_assert_eq!(filter.header["bloom"]["p"].as_f64(), Some(1e-7));
        prop_assert_eq!(filter.number("s"), 7);
        prop_assert_eq!(filter.header["wildcards"].as_u64(), Some(3));
        prop_assert_eq!(PathFilter::parse(&file).unwrap().version(), version);
    }
}

#[test]
fn duplicates_among_many_keys_are_counted_once() {
    // Several chunks of hashes, each of which repeats half of the keys of another one.
    let numbers: Vec<u64> = Random(1).take(150_000).collect();
    let keys = numbers.iter().chain(&numbers[40_000..110_000]).map(|number| number.to_le_bytes());
    let builder = PathFilterBuilder::new().false_positive_rate(1e-3);
    let file = builder.build(keys).unwrap();
    assert_eq!(oracle::Filter::read(&file).number("n"), 150_000);
    let once = numbers.iter().map(|number| number.to_le_bytes());
    assert!(file == builder.build_counted(150_000, once).unwrap());
}

#[test]
fn a_very_frequent_key_is_counted_once() {
    let frequent = std::iter::repeat_n(*b"/always ", 200_000);
    let keys = frequent.chain(Random(2).take(1_000).map(u64::to_le_bytes));
    let builder = PathFilterBuilder::new().false_positive_rate(1e-3);
    assert_eq!(oracle::Filter::read(&builder.build(keys).unwrap()).number("n"), 1_001);
}

#[test]
fn duplicates_do_not_count_towards_the_limit() {
    let keys = || (0..10_u64).map(u64::to_le_bytes);
    let repeated = || (0..50_000_u64).map(|number| (number % 10).to_le_bytes());
    let builder = PathFilterBuilder::new().false_positive_rate(1e-15);
    assert!(Sizing::Promised.bits(50_000, 1e-15).is_none());
    assert!(builder.build(repeated()).unwrap() == builder.build(keys()).unwrap());
}

#[test]
fn a_filter_without_keys_reports_every_path_as_absent() {
    let file = PathFilterBuilder::new().build::<&str>([]).unwrap();
    let filter = PathFilter::parse(&file).unwrap();
    assert_eq!((filter.params().n, filter.bits_set(), filter.wildcards()), (0, 0, 0));
    assert_eq!(filter.false_positive_rate(), 0.0);
    assert!(!filter.has(b"/"));
    assert!(!String::from_utf8(file).unwrap().contains("wildcards"));
}

#[test]
fn options_are_accepted_at_their_limit_and_refused_beyond_it() {
    let new = PathFilterBuilder::new;
    let small = Sizing::Bits(9);
    for rate in [0.5, 1e-18] {
        assert!(new().sizing(small).false_positive_rate(rate).build(["/"]).is_ok());
    }
    for rate in [0.500_001, 0.999e-18, 0.0, -1.0, 1.0, f64::INFINITY] {
        let error = new().false_positive_rate(rate).build(["/"]).unwrap_err();
        assert_eq!(error, BuildError::Rate { found: rate });
        let expected = format!("expected a false-positive rate from 1e-18 to 0.5, found {rate}");
        assert_eq!(error.to_string(), expected);
    }
    assert!(new().false_positive_rate(f64::NAN).collect().is_err());

    assert!(new().seed(MAX_INTEGER).sizing(small).build(["/"]).is_ok());
    let error = new().seed(MAX_INTEGER + 1).build_counted(1, ["/"]).unwrap_err();
    assert_eq!(error, BuildError::Seed { found: MAX_INTEGER + 1 });
    assert!(error.to_string().starts_with("expected a seed of at most 9007199254740991, found"));

    let longest = "x".repeat((1 << 16) - 162);
    let file = new().version(&longest).seed(MAX_INTEGER).build(["/*"]).unwrap();
    assert_eq!(PathFilter::parse(&file).unwrap().version(), longest);
    let longest = longest + "x";
    let error = new().version(&longest).build(["/"]).unwrap_err();
    assert_eq!(error, BuildError::Version { found: (1 << 16) + 1 });

    let error = new().sizing(Sizing::Bits(0)).build(["/"]).unwrap_err();
    assert_eq!(error, BuildError::Bits { keys: 1 });
    let error = new().build_counted(200_000_000, [""; 0]).unwrap_err();
    assert_eq!(error, BuildError::Bits { keys: 200_000_000 });
    for sizing in [Sizing::Promised, Sizing::Classic, small] {
        let error = new().sizing(sizing).build_counted(u64::MAX, [""; 0]).unwrap_err();
        assert_eq!(error, BuildError::Bits { keys: u64::MAX });
    }
    let built = new().sizing(small).collect().unwrap().build().unwrap();
    assert_eq!(built.file(&longest), Err(BuildError::Version { found: (1 << 16) + 1 }));
    assert!(error.to_string().contains(&MAX_BITS.to_string()));
}

#[test]
fn more_keys_than_the_given_count_are_refused() {
    let builder = PathFilterBuilder::new();
    assert!(builder.build_counted(3, ["/a", "/b", "/c", "/a"]).is_ok());
    let error = builder.build_counted(3, ["/a", "/b", "/c", "/d"]).unwrap_err();
    assert_eq!(error, BuildError::TooManyKeys { expected: 3 });
    assert_eq!(error.to_string(), "expected at most 3 different keys, found more");
}
