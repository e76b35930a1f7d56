//! What may be wrong with an image.

use core::fmt;

/// An image that [`HeaderSet::from_image`](crate::HeaderSet::from_image) refused.
///
/// [`Display`](fmt::Display) says what was expected, what was found and where.
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
        /// The length in bytes that the header calls for.
        expected: u64,
        /// The length in bytes of what was given.
        found: usize,
    },
    /// A field holds what no valid image holds there.
    Field {
        /// The name of the field.
        field: &'static str,
        /// The offset of the field from the image's first byte.
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
