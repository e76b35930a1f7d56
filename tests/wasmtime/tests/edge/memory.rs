//! Freed memory is reused.

use hedgerow_example_wasmtime_host::{BlockStripper, EdgeModule, PathFilter};
use hedgerow_paths::{PathFilterBuilder, Sizing};

use crate::support::edge::{block, paths};

/// Asserts that doing something a thousand times takes no more memory than doing it ten times.
fn assert_no_growth(edge: &EdgeModule, mut once: impl FnMut(usize)) {
    (0..10).for_each(&mut once);
    let before = edge.memory_size();
    (10..1_000).for_each(once);
    assert_eq!(edge.memory_size(), before);
}

#[test]
fn freed_filters_leave_no_memory_behind() {
    let edge = paths();
    let builder = PathFilterBuilder::new();
    let files = [100, 20_000, 300_000]
        .map(|bits| builder.clone().sizing(Sizing::Bits(bits)).build(["/a"]).unwrap());
    let long = "/a".repeat(40_000);
    assert_no_growth(&edge, |number| {
        let file = &files[number % 3];
        let filter = PathFilter::parse(&edge, file, false).unwrap();
        assert!(filter.has(b"/a").unwrap());
        assert!(!filter.has(long.as_bytes()).unwrap());
        assert!(PathFilter::parse(&edge, &file[..file.len() - 1], false).is_err());
    });
}

/// Returns rules, more for greater numbers.
fn rules(number: usize) -> Vec<String> {
    (0..=number % 7).map(|rule| format!("x-{rule}*")).collect()
}

#[test]
fn freed_block_strippers_leave_no_memory_behind() {
    let edge = block();
    assert_no_growth(&edge, |number| {
        assert!(BlockStripper::new(&edge, &["x-a", "x b"], false).is_err());
        let stripper = BlockStripper::new(&edge, &rules(number), false).unwrap();
        let mut block = b"X-0: 1\r\nb: 2\r\n".repeat(5_000);
        stripper.strip(&mut block).unwrap();
        assert_eq!(block.len(), 30_000);
    });
}
