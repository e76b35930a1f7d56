//! Shared test support.

pub mod forge;
pub mod generate;
pub mod oracle;
pub mod snapshot;
