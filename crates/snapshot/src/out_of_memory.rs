//! Memory that may not be there.

use alloc::vec::Vec;
use core::fmt;

/// There is no memory for what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory")
    }
}

impl core::error::Error for OutOfMemory {}

/// A buffer of `length` bytes.
pub(crate) fn buffer(length: u32) -> Result<Vec<u8>, OutOfMemory> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length as usize).map_err(|_| OutOfMemory)?;
    buffer.resize(length as usize, 0);
    Ok(buffer)
}
