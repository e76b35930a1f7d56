//! What the native benchmarks measure: workloads, and the ways to do the work.

pub mod headers;
pub mod paths;
