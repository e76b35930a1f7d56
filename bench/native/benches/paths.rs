//! Path filters: Hedgerow and its rivals, and the growth of builds with the number of paths.

use std::{
    collections::HashSet,
    hint::black_box,
    time::{Duration, Instant},
};

use bloomfilter::Bloom;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
use fastbloom::BloomFilter;
use hedgerow_paths::{Kind, PathFilter, PathFilterBuilder, Sizing};
use hedgerow_workloads::paths::paths;

/// The false-positive rate of every filter.
const RATE: f64 = 1e-7;

/// Paths queried per round: more than a branch predictor remembers.
const QUERIES: usize = 1 << 14;

/// Times single queries.
fn query<'a>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    method: &str,
    workload: &str,
    queries: &'a [String],
    has: impl Fn(&'a str) -> bool,
) {
    group.bench_function(BenchmarkId::new(method, workload), |bencher| {
        let mut next = queries.iter().cycle();
        bencher.iter(|| has(black_box(next.next().expect("no end"))));
    });
}

fn queries(criterion: &mut Criterion) {
    for (size, count) in [("20k", 20_000), ("1600k", 1_600_000)] {
        let keys = paths(count, 1);
        let absent = paths(QUERIES, 2);
        let present: Vec<String> =
            keys.iter().step_by(count / QUERIES).take(QUERIES).cloned().collect();
        let mixed: Vec<String> =
            present.iter().zip(&absent).map(|(a, b)| if a < b { a } else { b }).cloned().collect();

        let file = PathFilterBuilder::new().build(&keys).expect("a filter");
        let filter = PathFilter::parse(&file).expect("a filter");
        let classic = PathFilterBuilder::new().sizing(Sizing::Classic).build(&keys).expect("one");
        let classic = PathFilter::parse(&classic).expect("a filter");
        let fuse = PathFilterBuilder::new().kind(Kind::Fuse).build(&keys).expect("a filter");
        let fuse = PathFilter::parse(&fuse).expect("a filter");
        let fastbloom = BloomFilter::with_false_pos(RATE).items(keys.iter());
        let fastbloom_foldhash = BloomFilter::with_false_pos(RATE)
            .hasher(foldhash::fast::FixedState::default())
            .items(keys.iter());
        let mut bloomfilter = Bloom::new_for_fp_rate(count, RATE).expect("a filter");
        keys.iter().for_each(|key| bloomfilter.set(key.as_str()));
        let set: HashSet<&str> = keys.iter().map(String::as_str).collect();
        let foldhash: HashSet<&str, foldhash::fast::FixedState> =
            keys.iter().map(String::as_str).collect();

        let mut group = criterion.benchmark_group("paths-query");
        for (kind, queries) in [("absent", &absent), ("present", &present), ("mixed", &mixed)] {
            let workload = format!("{size} {kind}");
            query(&mut group, "hedgerow", &workload, queries, |key| filter.has(key.as_bytes()));
            query(&mut group, "hedgerow-fuse", &workload, queries, |key| fuse.has(key.as_bytes()));
            query(&mut group, "hedgerow-classic", &workload, queries, |key| {
                classic.has(key.as_bytes())
            });
            query(&mut group, "fastbloom", &workload, queries, |key| fastbloom.contains(key));
            query(&mut group, "fastbloom-foldhash", &workload, queries, |key| {
                fastbloom_foldhash.contains(key)
            });
            query(&mut group, "bloomfilter", &workload, queries, |key| bloomfilter.check(key));
            query(&mut group, "hashset-siphash", &workload, queries, |key| set.contains(key));
            query(&mut group, "hashset-foldhash", &workload, queries, |key| foldhash.contains(key));
        }
        group.finish();
    }
}

/// Times builds with all keys, and reports the time per key.
fn build(
    group: &mut BenchmarkGroup<'_, WallTime>,
    method: &str,
    count: usize,
    build: impl Fn() -> usize,
) {
    group.bench_function(BenchmarkId::new(method, count), |bencher| {
        bencher.iter_custom(|rounds| {
            // A round stands for one key, and a build has many.
            let builds = rounds.div_ceil(count as u64);
            let start = Instant::now();
            for _ in 0..builds {
                black_box(build());
            }
            start.elapsed().mul_f64(rounds as f64 / (builds * count as u64) as f64)
        });
    });
}

fn building(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("paths-build");
    group.sample_size(10).warm_up_time(Duration::from_millis(200));
    for count in [10_000, 100_000, 1_600_000, 10_000_000] {
        let keys = paths(count, 5);
        let builder = PathFilterBuilder::new();
        let fuse = builder.clone().kind(Kind::Fuse);
        build(&mut group, "hedgerow", count, || builder.build(&keys).expect("a filter").len());
        build(&mut group, "hedgerow-fuse", count, || fuse.build(&keys).expect("a filter").len());
        build(&mut group, "hedgerow-counted", count, || {
            builder.build_counted(count as u64, &keys).expect("a filter").len()
        });
        if count == 1_600_000 {
            let doubled = || keys.iter().chain(&keys[..count / 2]);
            build(&mut group, "hedgerow-duplicates", count, || {
                builder.build(doubled()).expect("a filter").len()
            });
            build(&mut group, "fastbloom", count, || {
                let filter = BloomFilter::with_false_pos(RATE).items(keys.iter());
                filter.num_bits()
            });
            build(&mut group, "bloomfilter", count, || {
                let mut filter = Bloom::new_for_fp_rate(count, RATE).expect("a filter");
                keys.iter().for_each(|key| filter.set(key.as_str()));
                filter.len() as usize
            });
        }
    }
    group.finish();
}

criterion_group!(benches, queries, building);
criterion_main!(benches);
