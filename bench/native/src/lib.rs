//! The workloads and methods of the native benchmarks.

pub mod headers;
pub mod paths;
