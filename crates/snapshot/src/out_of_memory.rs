//! Fallible allocation.

use alloc::vec::Vec;
use core::fmt;

/// The error of a failed memory allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory")
    }
}

impl core::error::Error for OutOfMemory {}

/// Allocates a buffer of `length` zeros.
pub(crate) fn buffer(length: u32) -> Result<Vec<u8>, OutOfMemory> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length as usize).map_err(|_| OutOfMemory)?;
    buffer.resize(length as usize, 0);
    Ok(buffer)
}
