use hedgerow_example_wasmtime_host::PathFilter as Filter;
use hedgerow_paths::{Kind, MAX_INTEGER, PathFilter, PathFilterBuilder, Sizing};
use hedgerow_tests_random::Random;

use crate::support::{edge::paths, texts::key};

/// Numbers of bits, from the smallest to one that leaves nearly all bits 0.
const PRIMES: [u32; 8] = [2, 3, 61, 127, 8_191, 65_537, 131_071, 1_000_003];

/// Returns a builder with a rate from 0.5 to 1e-7, a random seed, and each kind of filter and of sizing in
/// turn.
fn builder(random: &mut Random, number: usize) -> PathFilterBuilder {
    let sizing = match number % 4 {
        0 => Sizing::Promised,
        1 => Sizing::Classic,
        2 => Sizing::Bits(*random.pick(&PRIMES)),
        _ => Sizing::Bits(random.within(0..200_000) as u32 | 1),
    };
    let smallest: f64 = 1e-7 / 0.5;
    PathFilterBuilder::new()
        .kind(if number % 5 == 4 { Kind::Fuse } else { Kind::Bloom })
        .false_positive_rate(0.5 * smallest.powf(random.share()))
        .seed(random.number() & MAX_INTEGER)
        .sizing(sizing)
}

#[test]
fn every_query_gives_the_same_result_as_natively() {
    let edge = paths();
    let mut random = Random(2);
    // Results for keys that are not in the filter.
    let (mut absent, mut present) = (0, 0);
    for number in 0..25 {
        let builder = builder(&mut random, number);
        let keys: Vec<String> = (0..random.within(0..3_001)).map(|_| key(&mut random)).collect();
        let file = builder.build(&keys).unwrap();
        let native = PathFilter::parse(&file).unwrap();
        let filter = Filter::parse(&edge, &file, random.once_in(2)).unwrap();
        assert_eq!(filter.wildcards(), native.wildcards());
        for asked in 0..5_000 {
            let is_member = asked % 2 == 0 && !keys.is_empty();
            let other = if is_member { None } else { Some(key(&mut random)) };
            let key = other.as_ref().unwrap_or_else(|| random.pick(&keys));
            let has = filter.has(key.as_bytes()).unwrap();
            assert_eq!(has, native.has(key.as_bytes()), "{builder:?}, {key:?}");
            match (is_member, has) {
                (true, has) => assert!(has, "{builder:?}, {key:?}"),
                (false, true) => present += 1,
                (false, false) => absent += 1,
            }
        }
    }
    assert!(absent > 10_000 && present > 1_000, "{absent} were absent, {present} present");
}
