//! The header names and paths of the native benchmarks and of the regression guard.

pub mod headers;
pub mod paths;
