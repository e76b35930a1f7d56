//! Shared test support.

pub mod generate;
pub mod oracle;
