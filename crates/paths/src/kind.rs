//! The kinds of body that a filter can have.

/// How a filter stores its keys.
///
/// # Example
///
/// ```
/// use hedgerow_paths::{Kind, PathFilter, PathFilterBuilder};
///
/// let file = PathFilterBuilder::new().kind(Kind::Fuse).build(["/", "/about"])?;
/// let filter = PathFilter::parse(&file)?;
/// assert!(filter.has(b"/about"));
/// assert_eq!(filter.params().p, 2_f64.powi(-24));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A Bloom filter, in the format of Vercel's filters. Its rate is a choice, and filters of equal
    /// parameters can be combined.
    #[default]
    Bloom,
    /// A binary fuse filter with fingerprints of 24 bits: smaller and faster than a Bloom filter, at
    /// a fixed rate of 2^-24.
    Fuse,
}
