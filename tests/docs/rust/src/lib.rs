//! The Rust of documents that belong to no crate, as documentation tests.

/// The README of the repository.
#[cfg(doctest)]
#[doc = include_str!("../../../../README.md")]
pub struct Readme;
