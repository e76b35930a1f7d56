//! Where JavaScript writes the UTF-8 of a path.

use alloc::vec::Vec;

/// A buffer that is as long as JavaScript asks for.
#[derive(Default)]
pub(crate) struct KeyBuffer(Vec<u8>);

impl KeyBuffer {
    /// Makes the buffer `length` bytes long, and says where it lies: nowhere if there is no memory
    /// for it. What was in it is lost.
    pub(crate) fn reserve(&mut self, length: usize) -> *const u8 {
        let mut other = Vec::new();
        if other.try_reserve_exact(length).is_err() {
            return core::ptr::null();
        }
        other.resize(length, 0);
        self.0 = other;
        self.0.as_ptr()
    }

    /// The first `length` bytes.
    pub(crate) fn key(&self, length: usize) -> &[u8] {
        self.0.get(..length).unwrap_or_default()
    }
}
