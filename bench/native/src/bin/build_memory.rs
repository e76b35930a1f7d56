//! Builds a filter with a given number of keys, and prints the number of keys, the size of the file and
//! the peak memory of the build in bytes, as JSON.

use std::{env, fs};

use hedgerow_paths::PathFilterBuilder;
use hedgerow_tests_random::Random;

fn main() {
    let count = env::args().nth(1).and_then(|count| count.parse().ok()).expect("a number of keys");
    let before = peak();
    // The keys are generated on demand, and take no memory.
    let keys = Random(1).take(count).map(u64::to_le_bytes);
    let file = PathFilterBuilder::new().build(keys).expect("a filter");
    let peak = peak() - before;
    println!(r#"{{"keys": {count}, "file": {}, "peak": {peak}}}"#, file.len());
}

/// Returns the peak resident memory so far, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    let kibibytes: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("one");
    kibibytes * 1024
}
