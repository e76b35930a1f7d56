//! The workloads of the native benchmarks, and Hedgerow's rivals in stripping headers.

pub mod headers;
pub mod paths;
pub mod rivals;
