//! What the tests share.

pub mod generate;
pub mod oracle;
