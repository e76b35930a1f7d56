//! The buffer to which JavaScript writes the UTF-8 of a path.

use alloc::vec::Vec;

/// A buffer whose length JavaScript chooses.
#[derive(Default)]
pub(crate) struct KeyBuffer(Vec<u8>);

impl KeyBuffer {
    /// Replaces the buffer by one of `length` bytes. Returns its address, or null if the allocation
    /// fails.
    pub(crate) fn reserve(&mut self, length: usize) -> *const u8 {
        let mut other = Vec::new();
        if other.try_reserve_exact(length).is_err() {
            return core::ptr::null();
        }
        other.resize(length, 0);
        self.0 = other;
        self.0.as_ptr()
    }

    /// Returns the first `length` bytes.
    pub(crate) fn key(&self, length: usize) -> &[u8] {
        self.0.get(..length).unwrap_or_default()
    }
}
