//! What is freed is used again.

use hedgerow_paths::{PathFilterBuilder, Sizing};
use hedgerow_tests_wasmtime::{EdgeModule, Filter, HeaderRules};

use crate::support::edge::edge;

/// Asserts that to do something a thousand times takes no more memory than to do it a few times.
fn assert_no_growth(edge: &EdgeModule, mut once: impl FnMut(usize)) {
    (0..10).for_each(&mut once);
    let before = edge.memory_size();
    (10..1_000).for_each(once);
    assert_eq!(edge.memory_size(), before);
}

#[test]
fn filters_that_were_freed_leave_no_memory_behind() {
    let edge = edge();
    let builder = PathFilterBuilder::new();
    let files = [100, 20_000, 300_000]
        .map(|bits| builder.clone().sizing(Sizing::Bits(bits)).build(["/a"]).unwrap());
    let long = "/a".repeat(40_000);
    assert_no_growth(&edge, |number| {
        let file = &files[number % 3];
        let filter = Filter::parse(&edge, file, false).unwrap();
        assert!(filter.has(b"/a"));
        assert!(!filter.has(long.as_bytes()));
        assert!(Filter::parse(&edge, &file[..file.len() - 1], false).is_err());
    });
}

#[test]
fn rules_that_were_freed_leave_no_memory_behind() {
    let edge = edge();
    assert_no_growth(&edge, |number| {
        let mut rules = HeaderRules::new(&edge);
        (0..=number % 7).for_each(|rule| rules.add(format!("x-{rule}*").as_bytes()).unwrap());
        rules.compile();
        let mut block = b"X-0: 1\r\nb: 2\r\n".repeat(5_000);
        rules.strip_block(&mut block).unwrap();
        assert_eq!(block.len(), 30_000);
    });
}
