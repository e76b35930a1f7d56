//! Header stripping: Hedgerow and its rivals, and the growth with the number of rules.

use std::{
    collections::hash_map::RandomState,
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main,
    measurement::WallTime,
};
use hedgerow_bench::rivals;
use hedgerow_headers::{HeaderSet, HeaderSetBuilder, Mode};
use hedgerow_workloads::headers::{
    GROWTH, Workload, external_names, fresh, header_name, internal_names, many_rules, prefix_rules,
    set_of, workloads,
};
use http::{HeaderMap, HeaderName};

/// Requests prepared at a time, few enough to be in the processor's cache when they are stripped.
const BATCH: u64 = 64;

/// Times `clear` on fresh requests, one by one. Building and dropping them is not timed.
fn clear(
    group: &mut BenchmarkGroup<'_, WallTime>,
    method: &str,
    workload: &Workload,
    mut clear: impl FnMut(&mut HeaderMap),
) {
    group.bench_function(BenchmarkId::new(method, &workload.name), |bencher| {
        let mut requests = workload.shuffled();
        bencher.iter_batched_ref(
            || fresh(requests.next().expect("no end")),
            |map| clear(map),
            BatchSize::NumIterations(BATCH),
        );
    });
}

fn clear_requests(criterion: &mut Criterion) {
    let texts = internal_names();
    let names: Vec<HeaderName> = texts.iter().map(|name| header_name(name)).collect();
    let set = set_of(texts.iter().copied());
    let with_prefixes = set_of(texts.iter().copied().chain(prefix_rules()));
    let borrowed = HeaderSet::from_image(set.image()).expect("a valid image");
    let mut hits = Vec::with_capacity(64);
    let mut allowing = HeaderSetBuilder::with_mode(Mode::Keep);
    let allowing = allowing.rules(external_names()).expect("valid rules").build();

    for workload in &workloads() {
        let mut group = criterion.benchmark_group("headers-clear");
        clear(&mut group, "hedgerow", workload, |map| {
            black_box(set.strip(map).ok());
        });
        clear(&mut group, "hedgerow-10-prefixes", workload, |map| {
            black_box(with_prefixes.strip(map).ok());
        });
        clear(&mut group, "hedgerow-borrowed", workload, |map| {
            black_box(borrowed.strip(map).ok());
        });
        clear(&mut group, "hedgerow-keep", workload, |map| {
            black_box(allowing.strip(map).ok());
        });
        clear(&mut group, "loop", workload, |map| rivals::clear_by_loop(map, &names));
        clear(&mut group, "loop-text", workload, |map| {
            rivals::clear_by_loop(map, texts.iter().copied());
        });
        let regex = rivals::regex_of(&texts);
        let mut matched = Vec::with_capacity(64);
        clear(&mut group, "regex", workload, |map| {
            rivals::clear_by_regex(map, &regex, &mut matched);
        });
        macro_rules! clear_by {
            ($method:literal, $find:expr) => {{
                let find = $find;
                clear(&mut group, $method, workload, |map| {
                    rivals::clear(map, &names, &mut hits, &find);
                });
            }};
        }
        clear_by!("hashmap-siphash", rivals::hash_map::<RandomState>(&names));
        clear_by!("hashmap-foldhash", rivals::hash_map::<foldhash::fast::RandomState>(&names));
        clear_by!("phf", rivals::perfect_hash());
        clear_by!("btreemap", rivals::b_tree(&texts));
        clear_by!("fst", rivals::fst_map(&texts));
        clear_by!("aho-corasick", rivals::automaton(&texts));
        clear_by!("radix_trie", rivals::radix_trie(&texts));
        clear_by!("trie-hard", rivals::trie_hard(&texts));
        floors(&mut group, workload, &names);
        group.finish();
    }
}

/// Times the floors of every method: reading every name, and removing the internal names.
fn floors(group: &mut BenchmarkGroup<'_, WallTime>, workload: &Workload, names: &[HeaderName]) {
    clear(group, "floor-iterate", workload, |map| {
        for name in map.keys() {
            black_box(name.as_str());
        }
    });
    let known = rivals::hash_map::<RandomState>(names);
    group.bench_function(BenchmarkId::new("floor-remove", &workload.name), |bencher| {
        let mut requests = workload.shuffled();
        bencher.iter_batched_ref(
            || {
                let request = requests.next().expect("no end");
                (fresh(request), request.iter().filter_map(&known).collect::<Vec<_>>())
            },
            |(map, hits)| {
                for &hit in &*hits {
                    map.remove(&names[hit]);
                }
            },
            BatchSize::NumIterations(BATCH),
        );
    });
}

/// Times one lookup, over all names of a workload.
fn look_up(
    group: &mut BenchmarkGroup<'_, WallTime>,
    method: &str,
    workload: &Workload,
    find: impl Fn(&HeaderName) -> bool,
) {
    let mut requests = workload.shuffled();
    group.bench_function(BenchmarkId::new(method, &workload.name), |bencher| {
        bencher.iter_custom(|count| {
            let mut elapsed = Duration::ZERO;
            let mut done = 0;
            while done < count {
                let names: Vec<HeaderName> = requests
                    .by_ref()
                    .take(BATCH as usize)
                    .flatten()
                    .map(|name| header_name(name.as_str()))
                    .collect();
                let start = Instant::now();
                for name in &names {
                    black_box(find(name));
                }
                let lookups = names.len() as u64;
                elapsed += start.elapsed() * lookups.min(count - done) as u32 / lookups as u32;
                done += lookups;
            }
            elapsed
        });
    });
}

fn look_up_names(criterion: &mut Criterion) {
    let texts = internal_names();
    let names: Vec<HeaderName> = texts.iter().map(|name| header_name(name)).collect();
    let set = set_of(texts.iter().copied());
    let with_prefixes = set_of(texts.iter().copied().chain(prefix_rules()));
    let foldhash = rivals::hash_map::<foldhash::fast::RandomState>(&names);
    let trie_hard = rivals::trie_hard(&texts);
    let mut group = criterion.benchmark_group("headers-lookup");
    for workload in &workloads() {
        look_up(&mut group, "hedgerow", workload, |name| set.matches_name(name));
        look_up(&mut group, "hedgerow-bytes", workload, |name| {
            set.matches(name.as_str().as_bytes())
        });
        look_up(&mut group, "hedgerow-10-prefixes", workload, |name| {
            with_prefixes.matches_name(name)
        });
        look_up(&mut group, "hashmap-foldhash", workload, |name| foldhash(name).is_some());
        look_up(&mut group, "trie-hard", workload, |name| trie_hard(name).is_some());
    }
    group.finish();
}

/// Times lookups of the names of real requests in sets of increasing size.
fn grow_lookup(criterion: &mut Criterion) {
    let [real, ..] = workloads();
    let mut group = criterion.benchmark_group("headers-growth-lookup");
    for count in GROWTH {
        let rules = many_rules(count);
        let texts: Vec<&str> = rules.iter().map(String::as_str).collect();
        let names: Vec<HeaderName> = texts.iter().map(|name| header_name(name)).collect();
        let set = set_of(texts.iter().copied());
        let foldhash = rivals::hash_map::<foldhash::fast::RandomState>(&names);
        let trie_hard = rivals::trie_hard(&texts);
        let fst = rivals::fst_map(&texts);
        let regex = rivals::regex_of(&texts);
        let of_size = Workload { name: format!("{count} rules"), requests: real.requests.clone() };
        look_up(&mut group, "hedgerow", &of_size, |name| set.matches_name(name));
        look_up(&mut group, "hashmap-foldhash", &of_size, |name| foldhash(name).is_some());
        look_up(&mut group, "trie-hard", &of_size, |name| trie_hard(name).is_some());
        look_up(&mut group, "fst", &of_size, |name| fst(name).is_some());
        look_up(&mut group, "regex", &of_size, |name| regex.is_match(name.as_str().as_bytes()));
    }
    group.finish();
}

/// Times the compilation of sets of increasing size.
fn grow_compile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("headers-growth-compile");
    for count in GROWTH {
        let rules = many_rules(count);
        group.bench_function(BenchmarkId::new("hedgerow", format!("{count} rules")), |bencher| {
            bencher.iter(|| set_of(rules.iter().map(String::as_str)));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1500))
        .sample_size(50)
        .without_plots();
    targets = clear_requests, look_up_names, grow_lookup, grow_compile
}
criterion_main!(benches);
