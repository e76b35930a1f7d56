//! Where JavaScript writes the UTF-8 of a path.

use alloc::vec::Vec;

/// The length of the buffer between long paths. Most paths fit.
const LENGTH: usize = 1024;

/// A buffer that is longer while a longer path is in it.
pub(crate) struct KeyBuffer(Vec<u8>);

impl KeyBuffer {
    pub(crate) fn new() -> Self {
        Self(alloc::vec![0; LENGTH])
    }

    /// Makes room for `length` bytes, and says where they lie: nowhere if there is no memory for
    /// them. A length of 0 gives back what a longer path took.
    pub(crate) fn reserve(&mut self, length: usize) -> *const u8 {
        let length = length.max(LENGTH);
        if self.0.len() != length {
            let mut other = Vec::new();
            if other.try_reserve_exact(length).is_err() {
                return core::ptr::null();
            }
            other.resize(length, 0);
            self.0 = other;
        }
        self.0.as_ptr()
    }

    /// The first `length` bytes.
    pub(crate) fn key(&self, length: usize) -> &[u8] {
        self.0.get(..length).unwrap_or_default()
    }
}
