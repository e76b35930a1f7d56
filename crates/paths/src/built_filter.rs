//! A built filter, and its file.

use alloc::{format, string::String, vec::Vec};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    bit_array::BitArray, build_error::BuildError, fuse_table::FuseTable, number, shape::Shape,
    version,
};

/// A built filter, returned by [`KeyCollector::build`](crate::KeyCollector::build).
///
/// [`file`](Self::file) writes the file. A host that writes JSON itself can assemble it from the
/// parts.
pub struct BuiltFilter {
    pub(crate) n: u64,
    pub(crate) shape: Shape,
    pub(crate) wildcards: u32,
    pub(crate) body: Body,
}

/// The second line, before it is encoded.
pub(crate) enum Body {
    Bloom(BitArray),
    Fuse(FuseTable),
}

impl BuiltFilter {
    /// Returns the number of keys.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Returns the number of bits, or of slots of a fuse filter.
    pub fn m(&self) -> u32 {
        match &self.body {
            Body::Bloom(bits) => bits.m,
            Body::Fuse(table) => table.m,
        }
    }

    /// Returns the number of bits per key, or of slots per key of a fuse filter, which is 3.
    pub fn k(&self) -> u32 {
        match &self.body {
            Body::Bloom(bits) => bits.k,
            Body::Fuse(_) => 3,
        }
    }

    /// Returns the length of a segment of a fuse filter in slots, and the multiplier of the hashes.
    /// Returns zeros for a Bloom filter.
    pub fn segments(&self) -> (u32, u64) {
        match &self.body {
            Body::Bloom(_) => (0, 0),
            Body::Fuse(table) => (table.l, table.q),
        }
    }

    /// Returns the depth of the deepest key that ends in `/*`, or 0 if there is none.
    pub fn wildcards(&self) -> u32 {
        self.wildcards
    }

    /// Returns the bits or slots in padded Base64.
    pub fn body(&self) -> String {
        STANDARD.encode(self.bytes())
    }

    fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Bloom(bits) => bits.bytes(),
            Body::Fuse(table) => &table.bytes,
        }
    }

    /// Returns the file: two lines, separated by a line feed.
    ///
    /// # Errors
    ///
    /// Returns [`BuildError::Version`] if the version makes the first line too long.
    pub fn file(&self, version: &str) -> Result<Vec<u8>, BuildError> {
        version::check(version)?;
        let mut file = self.header(version);
        let body = self.bytes().len().div_ceil(3) * 4;
        file.reserve_exact(body + 3);
        file.push_str("\n\"");
        STANDARD.encode_string(self.bytes(), &mut file);
        file.push('"');
        Ok(file.into_bytes())
    }

    /// Returns the first line.
    fn header(&self, version: &str) -> String {
        let (n, m, s) = (self.n, self.m(), self.shape.seed);
        let mut line = String::from("{\"version\":");
        line.push_str(&version::escaped(version));
        match &self.body {
            Body::Bloom(BitArray { k, .. }) => {
                line.push_str(&format!(",\"bloom\":{{\"n\":{n},\"p\":"));
                number::write_into(&mut line, self.shape.rate);
                line.push_str(&format!(",\"m\":{m},\"k\":{k},\"s\":{s}}}"));
            }
            Body::Fuse(FuseTable { l, q, .. }) => {
                let fuse = format!("\"n\":{n},\"m\":{m},\"l\":{l},\"q\":{q},\"s\":{s}");
                line.push_str(&format!(",\"fuse\":{{{fuse}}}"));
            }
        }
        if self.wildcards > 0 {
            line.push_str(&format!(",\"wildcards\":{}", self.wildcards));
        }
        line.push('}');
        line
    }
}
