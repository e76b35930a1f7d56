//! Merging: the filter of all keys of several filters.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use crate::{
    bit_array::BitArray,
    build_error::BuildError,
    built_filter::{Body, BuiltFilter},
    filter::PathFilter,
    header::Numbers,
    kind::Kind,
    limits::MAX_INTEGER,
    merge_error::MergeError,
    shape::Shape,
    sizing::Sizing,
};

/// Merges filters with equal `m`, `k` and `s`: each bit of the result is set if it is set in any of
/// them, so it has the keys of all.
///
/// If the filters were built with the same options and the same
/// [capacity](crate::PathFilterBuilder::capacity), and no key is in two of them, the result is the
/// file that one build with these options makes of all keys. A key counts once for each filter that
/// has it, so the number of keys in the result is an upper bound. The requested rate is the greatest
/// one; [`PathFilter::false_positive_rate`] computes the rate of the result from its bits. Members
/// of the first line that the format does not define are dropped.
///
/// # Example
///
/// ```
/// use hedgerow_paths::{PathFilter, PathFilterBuilder, PathFilterMerger};
///
/// let builder = PathFilterBuilder::new().version("1").capacity(3);
/// let (pages, posts) = (builder.build(["/", "/about"])?, builder.build(["/blog/*"])?);
///
/// let mut merger = PathFilterMerger::new(&PathFilter::parse(&pages)?)?;
/// merger.add(&PathFilter::parse(&posts)?)?;
/// assert_eq!(merger.file("1")?, builder.build(["/", "/about", "/blog/*"])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PathFilterMerger {
    n: u64,
    s: u64,
    wildcards: u32,
    bits: BitArray,
    /// The texts of the requested rates. Parsing numbers takes 20 kB of code, which hosts that write
    /// the first line themselves need not load.
    rates: Vec<String>,
}

impl PathFilterMerger {
    /// Begins with the keys of `filter`.
    ///
    /// # Errors
    ///
    /// The same as [`add`](Self::add).
    pub fn new(filter: &PathFilter<'_>) -> Result<Self, MergeError> {
        let Numbers::Bloom { m, k, s, .. } = filter.parsed_header().numbers else {
            return Err(MergeError::Kind);
        };
        let bits = BitArray::new(m, k);
        let mut merger = Self { n: 0, s, wildcards: 0, bits, rates: Vec::new() };
        merger.add(filter)?;
        Ok(merger)
    }

    /// Adds the keys of `filter`.
    ///
    /// # Errors
    ///
    /// Returns a [`MergeError`] if `filter` cannot be merged with those before it, and adds nothing.
    ///
    /// # Complexity
    ///
    /// One pass over the file.
    pub fn add(&mut self, filter: &PathFilter<'_>) -> Result<(), MergeError> {
        let Numbers::Bloom { n, m, k, s, ref p } = filter.parsed_header().numbers else {
            return Err(MergeError::Kind);
        };
        equal("m", self.bits.m.into(), m.into())?;
        equal("k", self.bits.k.into(), k.into())?;
        equal("s", self.s, s)?;
        if self.n + n > MAX_INTEGER {
            return Err(MergeError::Keys { found: self.n + n });
        }
        self.n += n;
        self.wildcards = self.wildcards.max(filter.wildcards());
        let rate = filter.text(p);
        if !self.rates.iter().any(|known| known == rate) {
            self.rates.push(rate.to_owned());
        }
        self.bits.merge(filter.body());
        Ok(())
    }

    /// Returns the merged bits in padded Base64.
    pub fn body(&self) -> String {
        self.bits.base64()
    }

    /// Returns the merged file: two lines, separated by a line feed.
    ///
    /// # Errors
    ///
    /// Returns [`BuildError::Rate`] if no builder accepts the greatest requested rate, and
    /// [`BuildError::Version`] if the version makes the first line too long.
    pub fn file(self, version: &str) -> Result<Vec<u8>, BuildError> {
        let rates = self.rates.iter().map(|rate| rate.parse().unwrap_or_default());
        let rate = rates.fold(0.0, f64::max);
        let sizing = Sizing::Bits(self.bits.m);
        let shape = Shape { kind: Kind::Bloom, rate, seed: self.s, sizing, capacity: None };
        shape.check()?;
        BuiltFilter { n: self.n, shape, wildcards: self.wildcards, body: Body::Bloom(self.bits) }
            .file(version)
    }
}

fn equal(name: &'static str, expected: u64, found: u64) -> Result<(), MergeError> {
    if expected == found { Ok(()) } else { Err(MergeError::Parameter { name, expected, found }) }
}
