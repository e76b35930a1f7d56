//! Measures the false-positive rates of filters by hash-level queries, and prints one JSON array.
//!
//! Random hashes stand for random paths: that XXH64 makes the one of the other is not measured here.

use std::{iter, thread};

use hedgerow_paths::{KeyHash, PathFilter, PathFilterBuilder, Sizing};
use hedgerow_tests_random::Random;

/// Rates, numbers of keys, and how many queries are made for each.
const SIZES: [(f64, u64, u64); 16] = [
    (1e-2, 1, 40_000_000),
    (1e-2, 3, 40_000_000),
    (1e-2, 10, 40_000_000),
    (1e-2, 100, 40_000_000),
    (1e-2, 10_000, 40_000_000),
    (1e-2, 1_000_000, 40_000_000),
    (1e-4, 1, 400_000_000),
    (1e-4, 3, 400_000_000),
    (1e-4, 10, 400_000_000),
    (1e-4, 100, 400_000_000),
    (1e-4, 10_000, 400_000_000),
    (1e-4, 1_000_000, 400_000_000),
    (1e-7, 10, 2_000_000_000),
    (1e-7, 1_000, 2_000_000_000),
    (1e-7, 10_000, 2_000_000_000),
    (1e-7, 1_000_000, 2_000_000_000),
];

const THREADS: u64 = 2;

/// How many of `queries` random hashes filters of `n` keys have, over enough filters that the rate is
/// not that of one.
fn present(file: impl Fn(u64) -> Vec<u8>, n: u64, queries: u64, first: u64) -> u64 {
    let filters = (100_000 / n).clamp(2, 1_000);
    let mut random = Random(first ^ 0x5eed);
    let mut hashes = iter::from_fn(|| Some(KeyHash { h1: random.next()?, h2: random.next()? }));
    (0..filters)
        .map(|number| {
            let file = file(first + number);
            let filter = PathFilter::parse(&file).expect("a filter");
            let asked = hashes.by_ref().take((queries / filters) as usize);
            asked.filter(|&hash| filter.has_hash(hash)).count() as u64
        })
        .sum()
}

fn measure(rate: f64, n: u64, queries: u64, sizing: Sizing) -> String {
    let builder = PathFilterBuilder::new().false_positive_rate(rate).sizing(sizing);
    let file = |seed: u64| {
        let keys = Random(seed << 32).take(n as usize).map(u64::to_le_bytes);
        builder.build_counted(n, keys).expect("a filter")
    };
    let present: u64 = thread::scope(|scope| {
        let file = &file;
        let threads = [0, 1].map(|thread| {
            scope.spawn(move || present(file, n, queries / THREADS, thread * 1_000_000))
        });
        threads.map(|thread| thread.join().expect("no panic")).iter().sum()
    });
    let bits = sizing.bits(n, rate).expect("a size");
    let measured = present as f64 / queries as f64;
    format!(
        r#"{{"sizing": "{sizing:?}", "rate": {rate:e}, "keys": {n}, "bits": {bits}, "queries": {queries}, "measured": {measured:e}}}"#
    )
}

fn main() {
    let mut results: Vec<String> = SIZES
        .iter()
        .map(|&(rate, n, queries)| measure(rate, n, queries, Sizing::Promised))
        .collect();
    for (n, queries) in [(10, 100_000_000), (1_000, 1_000_000_000), (10_000, 1_000_000_000)] {
        results.push(measure(1e-7, n, queries, Sizing::Classic));
    }
    println!("[{}]", results.join(",\n"));
}
