//! The errors of reading an image.

use core::fmt;

/// The error of [`HeaderSet::from_image`](crate::HeaderSet::from_image).
///
/// [`Display`](fmt::Display) writes what was expected, what was found and where.
///
/// # Example
///
/// ```
/// use hedgerow_headers::{HeaderSet, HeaderSetBuilder, ImageError};
///
/// let mut image = HeaderSetBuilder::new().rule("x-debug")?.build().image().to_vec();
/// *image.last_mut().unwrap() ^= 1;
/// assert_eq!(
///     HeaderSet::from_image(&image).unwrap_err(),
///     ImageError::Field { field: "checksum", offset: 40 },
/// );
/// # Ok::<(), hedgerow_headers::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// The image is shorter or longer than its header says.
    Length {
        /// Length according to the header, in bytes.
        expected: u64,
        /// Length of the input, in bytes.
        found: usize,
    },
    /// A field holds a value that no valid image has.
    Field {
        /// Name of the field.
        field: &'static str,
        /// Offset of the field in the image, in bytes.
        offset: usize,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, found } => {
                write!(f, "expected an image of {expected} bytes, found {found}")
            }
            Self::Field { field, offset } => {
                write!(f, "expected a valid {field}, found another value at byte {offset}")
            }
        }
    }
}

impl core::error::Error for ImageError {}
