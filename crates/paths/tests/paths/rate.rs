//! The false-positive rate, measured with random keys.
//!
//! The benchmarks measure with more queries, down to a rate of 1e-7.

use hedgerow_paths::{PathFilter, PathFilterBuilder};
use hedgerow_tests_random::Random;

/// Returns the share of `queries` for absent keys that filters of `n` random keys report as present.
fn measured(n: usize, rate: f64, filters: usize, queries: usize) -> f64 {
    let mut random = Random(n as u64);
    let mut present = 0;
    for _ in 0..filters {
        let keys: Vec<_> = random.by_ref().take(n).map(u64::to_le_bytes).collect();
        let file = PathFilterBuilder::new().false_positive_rate(rate).build(&keys).unwrap();
        let filter = PathFilter::parse(&file).unwrap();
        let absent = random.by_ref().take(queries / filters).map(u64::to_le_bytes);
        present += absent.filter(|key| filter.has(key)).count();
    }
    present as f64 / queries as f64
}

#[test]
fn promised_filters_of_any_size_keep_the_rate() {
    let sizes = [(1, 2_000), (2, 2_000), (3, 2_000), (10, 2_000), (100, 500), (10_000, 10)];
    for (rate, queries) in [(0.3, 400_000), (1e-2, 1_000_000), (1e-4, 10_000_000)] {
        for (n, filters) in sizes {
            let found = measured(n, rate, filters, queries);
            let deviation = (rate / queries as f64).sqrt();
            assert!(found <= 1.15 * rate + 4.0 * deviation, "n = {n}, p = {rate}: {found}");
        }
    }
}

#[test]
fn promised_filters_are_not_larger_than_needed() {
    for rate in [1e-2, 1e-4] {
        let found = measured(10_000, rate, 10, (4000.0 / rate) as usize);
        assert!(found >= 0.8 * rate, "p = {rate}: {found}");
    }
}
