//! The workload of the path benchmarks.

pub mod workload;
