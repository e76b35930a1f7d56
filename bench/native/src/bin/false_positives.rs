//! Measures the false-positive rates of filters, and prints a JSON array. Usage: `false_positives
//! DIVISOR`, where the number of queries is that of a full run divided by the divisor.
//!
//! Filters of Hedgerow are queried with random hashes, without running XXH64. The rivals are queried
//! with random numbers, which they hash.

use std::{env, thread};

use bloomfilter::Bloom;
use fastbloom::BloomFilter;
use hedgerow_paths::{KeyHash, Kind, PathFilter, PathFilterBuilder, Sizing};
use hedgerow_tests_random::Random;

/// Rates, the number of queries for each (more for lower rates), and numbers of keys.
const SIZES: [(f64, u64, &[u64]); 3] = [
    (1e-2, 40_000_000, &[1, 3, 10, 100, 1_000, 10_000, 1_000_000]),
    (1e-4, 400_000_000, &[1, 3, 10, 100, 1_000, 10_000, 1_000_000]),
    (1e-7, 2_000_000_000, &[10, 1_000, 10_000, 1_000_000]),
];

/// Numbers of keys for filters with classic sizing, and the number of queries for each.
const CLASSIC: [(u64, u64); 3] =
    [(10, 100_000_000), (1_000, 1_000_000_000), (10_000, 1_000_000_000)];

/// Numbers of keys for fuse filters, and the number of queries for each. Their rate is 2^-24.
const FUSE: ([u64; 3], u64) = ([10, 1_000, 24_441], 2_000_000_000);

/// Numbers of keys for the rivals.
const RIVAL_KEYS: [u64; 4] = [10, 1_000, 10_000, 1_000_000];

const THREADS: u64 = 2;

/// Rivals are slower, and get this fraction of the queries.
const RIVAL_DIVISOR: u64 = 5;

fn keys(seed: u64, n: u64) -> impl Iterator<Item = u64> {
    Random(seed << 32).take(n as usize)
}

/// Measures the rate over many filters of `n` keys. `count` builds a filter from a seed, and returns how
/// many of a number of random queries it reports as present.
fn measure(
    filter: &str,
    (rate, n): (f64, u64),
    queries: u64,
    count: impl Fn(u64, &mut Random, u64) -> u64 + Sync,
) -> String {
    let filters = (100_000 / n).clamp(2, 1_000);
    let each = queries / THREADS / filters;
    let present = |first: u64| -> u64 {
        let mut random = Random(first ^ 0x5eed);
        (0..filters).map(|number| count(first + number, &mut random, each)).sum()
    };
    let present: u64 = thread::scope(|scope| {
        let present = &present;
        let threads = [0, 1].map(|thread| scope.spawn(move || present(thread * 1_000_000)));
        threads.map(|thread| thread.join().expect("no panic")).iter().sum()
    });
    let queries = each * THREADS * filters;
    let measured = present as f64 / queries as f64;
    format!(
        r#"{{"filter": "{filter}", "rate": {rate:e}, "keys": {n}, "queries": {queries}, "measured": {measured:e}}}"#
    )
}

fn bloom(name: &str, sizing: Sizing, (rate, n): (f64, u64), queries: u64) -> String {
    let builder = PathFilterBuilder::new().false_positive_rate(rate).sizing(sizing);
    own(name, &builder, (rate, n), queries)
}

fn own(name: &str, builder: &PathFilterBuilder, (rate, n): (f64, u64), queries: u64) -> String {
    measure(name, (rate, n), queries, |seed, random, queries| {
        let file = builder.build_counted(n, keys(seed, n).map(u64::to_le_bytes)).expect("a filter");
        let filter = PathFilter::parse(&file).expect("a filter");
        let mut has = || filter.has_hash(KeyHash { h1: random.number(), h2: random.number() });
        (0..queries).filter(|_| has()).count() as u64
    })
}

fn fastbloom((rate, n): (f64, u64), queries: u64) -> String {
    measure("fastbloom", (rate, n), queries, |seed, random, queries| {
        let empty = BloomFilter::with_false_pos(rate).seed(&u128::from(seed));
        let mut filter = empty.expected_items(n as usize);
        for key in keys(seed, n) {
            filter.insert(&key);
        }
        random.take(queries as usize).filter(|query| filter.contains(query)).count() as u64
    })
}

fn bloomfilter((rate, n): (f64, u64), queries: u64) -> String {
    measure("bloomfilter", (rate, n), queries, |seed, random, queries| {
        // Its two hashes take half of these bytes each, and the halves must differ.
        let mut numbers = Random(seed);
        let bytes = std::array::from_fn(|_| numbers.number() as u8);
        let mut filter = Bloom::new_for_fp_rate_with_seed(n as usize, rate, &bytes).expect("one");
        for key in keys(seed, n) {
            filter.set(&key);
        }
        random.take(queries as usize).filter(|query| filter.check(query)).count() as u64
    })
}

fn main() {
    let divisor: u64 = env::args().nth(1).and_then(|it| it.parse().ok()).expect("a divisor");
    let mut results = Vec::new();
    for (rate, queries, keys) in SIZES {
        let queries = queries / divisor;
        for &n in keys {
            results.push(bloom("promised", Sizing::Promised, (rate, n), queries));
        }
        for n in RIVAL_KEYS {
            results.push(fastbloom((rate, n), queries / RIVAL_DIVISOR));
            results.push(bloomfilter((rate, n), queries / RIVAL_DIVISOR));
        }
    }
    for (n, queries) in CLASSIC {
        results.push(bloom("classic", Sizing::Classic, (1e-7, n), queries / divisor));
    }
    let (keys, queries) = FUSE;
    let builder = PathFilterBuilder::new().kind(Kind::Fuse);
    for n in keys {
        results.push(own("fuse", &builder, (2_f64.powi(-24), n), queries / divisor));
    }
    println!("[{}]", results.join(",\n"));
}
