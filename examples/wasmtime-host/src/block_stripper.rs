//! Stripping of field blocks, in the module `block.wasm`.

use std::thread;

use wasmtime::Result;

use crate::{EdgeModule, HeaderError, RuleError};

/// Result of `strip` for a block that it rejected.
const REJECTED: i32 = -1;

/// A set of rules in the memory of a module.
pub struct BlockStripper<'m> {
    edge: &'m EdgeModule,
    this: u32,
}

impl<'m> BlockStripper<'m> {
    /// Compiles rules, as an allow-list if it `keeps` what they match. Otherwise it strips every
    /// equivalent spelling, too.
    ///
    /// # Errors
    ///
    /// Returns a [`RuleError`] if the module rejects a rule.
    pub fn new<R: AsRef<[u8]>>(edge: &'m EdgeModule, rules: &[R], keeps: bool) -> Result<Self> {
        let is_exact = u32::from(keeps);
        let this = edge.call("blockstripper_new", (u32::from(keeps), is_exact))?;
        let stripper = Self { edge, this };
        for (rule, text) in rules.iter().enumerate() {
            let (_, length) = stripper.write(text.as_ref())?;
            let is_added: u32 = edge.call("blockstripper_add", (this, length))?;
            if is_added == 0 {
                return Err(RuleError { rule, reason: stripper.error()? }.into());
            }
        }
        edge.call::<_, ()>("blockstripper_build", this)?;
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
