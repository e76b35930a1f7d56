//! What the regression guard counts the instructions of.
//!
//! Nothing here may depend on the time, on addresses or on chance: no `HashMap` of the standard
//! library, and what looks random has a seed. The requests and paths are those of the benchmarks.

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
