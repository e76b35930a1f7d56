//! A filter that was built, and its file.

use alloc::{format, string::String, vec::Vec};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{bit_array::BitArray, build_error::BuildError, number, shape::Shape, version};

/// A filter that was built.
///
/// A host that writes JSON itself takes the parts; [`file`](Self::file) puts them together.
pub struct BuiltFilter {
    pub(crate) n: u64,
    pub(crate) shape: Shape,
    pub(crate) wildcards: u32,
    pub(crate) bits: BitArray,
}

impl BuiltFilter {
    /// The number of keys.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The number of bits.
    pub fn m(&self) -> u32 {
        self.bits.m
    }

    /// The number of bits of a key.
    pub fn k(&self) -> u32 {
        self.bits.k
    }

    /// The depth of the deepest key that ends in `/*`; 0 if there are none.
    pub fn wildcards(&self) -> u32 {
        self.wildcards
    }

    /// The bits, in padded Base64.
    pub fn body(&self) -> String {
        STANDARD.encode(self.bits.bytes())
    }

    /// The file: two lines, with a line feed between them.
    ///
    /// # Errors
    ///
    /// [`BuildError::Version`]
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

    /// The first line.
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
