//! Support that the fuzz targets share with the tests.

#[path = "../../tests/snapshot/support/delta.rs"]
pub mod delta;
#[path = "../../tests/snapshot/support/forge.rs"]
pub mod forge;
#[path = "../../tests/snapshot/support/forge_delta.rs"]
pub mod forge_delta;
#[path = "../../tests/snapshot/support/oracle.rs"]
pub mod oracle;
#[path = "../../tests/snapshot/support/snapshot.rs"]
pub mod snapshot;
