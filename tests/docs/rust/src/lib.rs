//! Documentation tests for Rust in documents outside the crates.

/// The README of the repository.
#[cfg(doctest)]
#[doc = include_str!("../../../../README.md")]
pub struct Readme;
