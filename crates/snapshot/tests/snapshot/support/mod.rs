//! Shared test support.

pub mod delta;
pub mod forge;
pub mod forge_delta;
pub mod generate;
pub mod oracle;
pub mod snapshot;
pub mod tail;
