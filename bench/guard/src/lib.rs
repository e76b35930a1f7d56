//! The cases whose instructions the regression guard counts.
//!
//! They must be deterministic: no dependence on time or addresses, no `HashMap` of the standard
//! library, seeded random numbers only. Requests and paths are those of the benchmarks.

mod case;
mod headers;
mod paths;
mod snapshot;

#[path = "../../native/src/headers/workload.rs"]
pub mod header_workload;
#[path = "../../native/src/paths/workload.rs"]
pub mod path_workload;

pub use case::{Case, Prepared};

/// All cases.
pub fn cases() -> impl Iterator<Item = Case> {
    headers::cases().chain(paths::cases()).chain(snapshot::cases())
}
