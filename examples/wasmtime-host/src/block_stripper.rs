//! Stripping of field blocks, in the module `block.wasm`.

use std::thread;

use wasmtime::{Result, ensure};

use crate::{EdgeModule, HeaderError};

/// Result of `strip` for a block that it rejected.
const REJECTED: i32 = -1;

/// Compiled rules in the memory of a module.
pub struct BlockStripper<'m> {
    edge: &'m EdgeModule,
    this: u32,
}

impl<'m> BlockStripper<'m> {
    /// Copies compiled rules, as [`compile_rules`](crate::compile_rules) returns them.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not compiled rules of the same version, or the module has no
    /// memory.
    pub fn new(edge: &'m EdgeModule, image: &[u8]) -> Result<Self> {
        let stripper = Self { edge, this: edge.call("blockstripper_new", ())? };
        stripper.write(image)?;
        let is_loaded: u32 = edge.call("blockstripper_load", stripper.this)?;
        ensure!(is_loaded != 0, "expected compiled rules, found {} other bytes", image.len());
        Ok(stripper)
    }

    /// Strips the field lines of a message in place. A block that is rejected is replaced by the bytes in
    /// the module, which must not have changed.
    ///
    /// # Errors
    ///
    /// Returns a [`HeaderError`] if the module rejects the block.
    pub fn strip(&self, block: &mut Vec<u8>) -> Result<()> {
        let (address, length) = self.write(block)?;
        let rest: i32 = self.edge.call("blockstripper_strip", (self.this, length))?;
        let is_rejected = rest == REJECTED;
        *block = self.edge.read(address, if is_rejected { length } else { rest as u32 })?;
        if is_rejected { Err(self.error()?.into()) } else { Ok(()) }
    }

    /// Writes bytes to the module's buffer. Returns its address, and the length.
    fn write(&self, bytes: &[u8]) -> Result<(u32, u32)> {
        let length = u32::try_from(bytes.len())?;
        let address = self.edge.call("blockstripper_reserve", (self.this, length))?;
        self.edge.write(address, bytes)?;
        Ok((address, length))
    }

    fn error(&self) -> Result<HeaderError> {
        let numbers = self.edge.numbers(self.edge.call("blockstripper_fault", self.this)?)?;
        let [address, length, byte, offset] = numbers;
        Ok(HeaderError::new(self.edge.text(address, length)?, byte, offset))
    }
}

impl Drop for BlockStripper<'_> {
    fn drop(&mut self) {
        let freed = self.edge.call::<_, ()>("__wbg_blockstripper_free", (self.this, 0));
        debug_assert!(freed.is_ok() || thread::panicking(), "{freed:?}");
    }
}
