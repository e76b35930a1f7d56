//! The workloads and the rivals of the native benchmarks.

pub mod headers;
pub mod paths;
