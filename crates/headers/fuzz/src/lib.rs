//! Support that the fuzz targets share with the tests.

#[path = "../../tests/headers/support/forge.rs"]
pub mod forge;
#[path = "../../tests/headers/support/oracle.rs"]
pub mod oracle;
