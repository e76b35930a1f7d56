//! Keys and filters of every kind.

use hedgerow_paths::{Kind, MAX_INTEGER, PathFilterBuilder, Sizing};
use proptest::{collection::vec, prelude::*};

/// Paths, text and bytes, short and long.
pub fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "(/[a-z0-9-]{1,12}){1,6}".prop_map(String::into_bytes),
        1 => "/\\PC{0,40}".prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..100),
        1 => vec(any::<u8>(), 1_000..5_000),
        1 => Just(Vec::new()),
    ]
}

/// Rates with sizings. `Sizing::Promised` would take megabytes for a smaller rate, whatever the keys.
fn rate_and_sizing() -> impl Strategy<Value = (f64, Sizing)> {
    let rate = || prop_oneof![Just(0.5), Just(1e-2), Just(1e-7), 1e-8..0.5];
    let bits = prop_oneof![1..30_u32, 1..100_000_u32];
    prop_oneof![
        (rate(), Just(Sizing::Promised)),
        (prop_oneof![Just(1e-18), rate()], Just(Sizing::Classic)),
        (rate(), bits.prop_map(Sizing::Bits)),
    ]
}

pub fn seed() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(MAX_INTEGER), 0..=MAX_INTEGER]
}

/// Builders of fuse filters.
pub fn fuse_builder() -> impl Strategy<Value = PathFilterBuilder> {
    (seed(), "\\PC{0,20}").prop_map(|(seed, version)| {
        PathFilterBuilder::new().kind(Kind::Fuse).seed(seed).version(&version)
    })
}

/// Builders of Bloom filters with every option.
pub fn builder() -> impl Strategy<Value = PathFilterBuilder> {
    (rate_and_sizing(), seed(), "\\PC{0,20}|[\\x00-\\x20\"\\\\]{0,5}").prop_map(
        |((rate, sizing), seed, version)| {
            PathFilterBuilder::new()
                .false_positive_rate(rate)
                .sizing(sizing)
                .seed(seed)
                .version(&version)
        },
    )
}
