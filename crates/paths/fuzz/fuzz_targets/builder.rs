//! For any keys and options, the builder returns a filter that has all keys, or an error.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_paths::{Kind, PathFilter, PathFilterBuilder, Sizing};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    keys: Vec<&'a [u8]>,
    rate: f64,
    seed: u64,
    version: &'a str,
    bits: Option<u16>,
    is_fuse: bool,
}

fuzz_target!(|input: Input<'_>| {
    let Input { keys, rate, seed, version, bits, is_fuse } = input;
    // `Sizing::Promised` would need gigabytes for small rates.
    let sizing = bits.map_or(Sizing::Classic, |bits| Sizing::Bits(bits.into()));
    let builder = PathFilterBuilder::new()
        .kind(if is_fuse { Kind::Fuse } else { Kind::Bloom })
        .false_positive_rate(rate)
        .seed(seed)
        .version(version)
        .sizing(sizing);
    let Ok(file) = builder.build(&keys) else {
        assert!(!(1e-18..=0.5).contains(&rate) || seed >= 1 << 53 || !is_fuse && bits == Some(0));
        return;
    };
    let filter = PathFilter::parse(&file).expect("a built file");
    assert!(keys.iter().all(|key| filter.has(key)));
    let expected = if is_fuse { 2_f64.powi(-24) } else { rate };
    assert_eq!((filter.version().as_str(), filter.params().p), (version, expected));
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(filter.params().n, distinct.len() as u64);
    assert_eq!(builder.build_counted(distinct.len() as u64, &keys), Ok(file));
});
