//! The path filter beside its rivals.

pub mod workload;
