//! The options of a snapshot.

use crate::encode_error::EncodeError;
use crate::limits::{MAX_LEVEL, MAX_PIECE_SIZE, MIN_LEVEL, MIN_PIECE_SIZE};

/// The options of a snapshot. The same image and options give the same file.
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
    /// Compression level of zstd, [`MIN_LEVEL`] to [`MAX_LEVEL`]. Default: 3.
    pub level: i32,
    /// Maximum number of bytes of the image in one frame: a power of two from [`MIN_PIECE_SIZE`] to
    /// [`MAX_PIECE_SIZE`]. Default: 1 MiB. Smaller pieces make random reads cheaper and compress less.
    pub piece_size: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { level: 3, piece_size: 1 << 20 }
    }
}

impl Options {
    /// Checks that the options are within their limits.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::Level`] or [`EncodeError::PieceSize`].
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
