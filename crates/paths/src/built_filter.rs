//! A built filter, and its file.

use alloc::{format, string::String, vec::Vec};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{bit_array::BitArray, build_error::BuildError, number, shape::Shape, version};

/// A built filter, returned by [`KeyCollector::build`](crate::KeyCollector::build).
///
/// [`file`](Self::file) writes the file. A host that writes JSON itself can assemble it from the
/// parts.
pub struct BuiltFilter {
    pub(crate) n: u64,
    pub(crate) shape: Shape,
    pub(crate) wildcards: u32,
    pub(crate) bits: BitArray,
}

impl BuiltFilter {
    /// Returns the number of keys.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Returns the number of bits.
    pub fn m(&self) -> u32 {
        self.bits.m
    }

    /// Returns the number of bits per key.
    pub fn k(&self) -> u32 {
        self.bits.k
    }

    /// Returns the depth of the deepest key that ends in `/*`, or 0 if there is none.
    pub fn wildcards(&self) -> u32 {
        self.wildcards
    }

    /// Returns the bits in padded Base64.
    pub fn body(&self) -> String {
        self.bits.base64()
    }

    /// Returns the file: two lines, separated by a line feed.
    ///
    /// # Errors
    ///
    /// Returns [`BuildError::Version`] if the version makes the first line too long.
    pub fn file(&self, version: &str) -> Result<Vec<u8>, BuildError> {
        version::check(version)?;
        let mut file = self.header(version);
        let body = self.bits.bytes().len().div_ceil(3) * 4;
        file.reserve_exact(body + 3);
        file.push_str("\n\"");
        STANDARD.encode_string(self.bits.bytes(), &mut file);
        file.push('"');
        Ok(file.into_bytes())
    }

    /// Returns the first line.
    fn header(&self, version: &str) -> String {
        let (n, m, k, s) = (self.n, self.m(), self.k(), self.shape.seed);
        let mut line = String::from("{\"version\":");
        line.push_str(&version::escaped(version));
        line.push_str(&format!(",\"bloom\":{{\"n\":{n},\"p\":"));
        number::write_into(&mut line, self.shape.rate);
        line.push_str(&format!(",\"m\":{m},\"k\":{k},\"s\":{s}}}"));
        if self.wildcards > 0 {
            line.push_str(&format!(",\"wildcards\":{}", self.wildcards));
        }
        line.push('}');
        line
    }
}
