//! The digest of frames and manifests.

use core::fmt;
use core::str::FromStr;

/// A BLAKE3 digest of 256 bits. Its text form has 64 hexadecimal digits.
///
/// # Example
///
/// ```
/// use hedgerow_snapshot::Digest;
///
/// let digest = Digest::of(b"a hedge");
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest([u8; Self::LENGTH]);

impl Digest {
    /// Length of a digest in bytes.
    pub const LENGTH: usize = 32;

    /// Returns the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Creates a digest from its bytes.
    pub const fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The error of parsing a [`Digest`] from text that is not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestTextError;

impl fmt::Display for DigestTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected 64 hexadecimal digits")
    }
}

impl core::error::Error for DigestTextError {}

impl FromStr for Digest {
    type Err = DigestTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| DigestTextError)?;
        Ok(Self(*hash.as_bytes()))
    }
}
