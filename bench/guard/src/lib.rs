//! The work whose instructions the regression guard counts.
//!
//! Nothing here may depend on time, addresses or chance: there is no `HashMap` of the standard library,
//! and random data has a seed. The requests and paths are those of the benchmarks.

mod case;
mod headers;
mod paths;
mod snapshot;

#[path = "../../native/src/headers.rs"]
pub mod header_workload;
#[path = "../../native/src/paths.rs"]
pub mod path_workload;

pub use case::{Case, Prepared};

/// Returns all cases.
pub fn cases() -> impl Iterator<Item = Case> {
    headers::cases().chain(paths::cases()).chain(snapshot::cases())
}
