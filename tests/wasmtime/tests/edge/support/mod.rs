pub mod edge;
pub mod files;
pub mod texts;
