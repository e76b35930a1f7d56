//! The workload of path filters.

pub mod workload;
