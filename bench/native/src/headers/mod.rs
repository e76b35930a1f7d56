//! Header stripping: the workloads and Hedgerow's rivals.

pub mod rivals;
pub mod workload;
