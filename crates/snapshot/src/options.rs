//! What a snapshot is made with.

use crate::encode_error::EncodeError;
use crate::limits::{MAX_LEVEL, MAX_PIECE_SIZE, MIN_LEVEL, MIN_PIECE_SIZE};

/// What a snapshot is made with. The same image and options give the same file.
///
/// # Example
///
/// ```
/// use hedgerow_snapshot::Options;
///
/// let options = Options { level: 9, ..Options::default() };
/// assert_eq!(options.piece_size, 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The level of zstd's compression, [`MIN_LEVEL`] to [`MAX_LEVEL`]; 3 unless it is said.
    pub level: i32,
    /// The most bytes of the image that one frame holds: a power of two, [`MIN_PIECE_SIZE`] to
    /// [`MAX_PIECE_SIZE`]; 1 MiB unless it is said. Smaller ones are found faster and compress less.
    pub piece_size: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { level: 3, piece_size: 1 << 20 }
    }
}

impl Options {
    /// Checks the limits.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Level`] and [`EncodeError::PieceSize`].
    pub fn check(&self) -> Result<(), EncodeError> {
        if !(MIN_LEVEL..=MAX_LEVEL).contains(&self.level) {
            return Err(EncodeError::Level { found: self.level });
        }
        let is_within = (MIN_PIECE_SIZE..=MAX_PIECE_SIZE).contains(&self.piece_size);
        if !is_within || !self.piece_size.is_power_of_two() {
            return Err(EncodeError::PieceSize { found: self.piece_size });
        }
        Ok(())
    }
}
