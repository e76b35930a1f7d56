pub mod edge;
pub mod files;
pub mod random;
pub mod texts;
