//! Path cases: building and parsing the filter of a site, and querying present and absent paths.

use std::hint::black_box;

use hedgerow_paths::{PathFilter, PathFilterBuilder};

use crate::case::{Case, Prepared};
use hedgerow_workloads::paths::paths;

/// Paths of the site.
const SITE: usize = 10_000;

/// Queries per case.
const QUERIES: usize = 1_000;

const SITE_SEED: u64 = 1;
const ABSENT_SEED: u64 = 2;

/// Returns the cases of one site.
pub fn cases() -> impl Iterator<Item = Case> {
    [
        Case::new("paths: query a present path", || query(SITE_SEED)),
        Case::new("paths: query an absent path", || query(ABSENT_SEED)),
        Case::new("paths: parse a filter", parse),
        Case::new("paths: build a filter of 10,000", build),
    ]
    .into_iter()
}

fn file() -> Vec<u8> {
    PathFilterBuilder::new().build(paths(SITE, SITE_SEED)).expect("a filter")
}

fn query(seed: u64) -> Prepared {
    let filter = PathFilter::from_vec(file(), true).expect("a valid file");
    Prepared::each(paths(QUERIES, seed), move |path| {
        black_box(filter.has(path.as_bytes()));
    })
}

fn parse() -> Prepared {
    Prepared::each(vec![file()], |file| {
        black_box(PathFilter::parse(file)).expect("a valid file");
    })
}

fn build() -> Prepared {
    Prepared::each(vec![paths(SITE, SITE_SEED)], |paths| {
        black_box(PathFilterBuilder::new().build(paths)).expect("a filter");
    })
}
