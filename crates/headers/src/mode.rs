//! Whether a set strips the fields that its rules match, or all others.

/// What a set does with the fields that its rules match.
///
/// # Example
///
/// ```
/// use hedgerow_headers::{HeaderSetBuilder, Mode};
///
/// let mut builder = HeaderSetBuilder::with_mode(Mode::Keep);
/// builder.rules(["accept", "x-app-*"])?;
/// let set = builder.build();
/// assert!(!set.strips(b"X-App-Version"));
/// assert!(set.strips(b"x-internal-user"));
/// assert!(!set.strips(b"host"));
/// # Ok::<(), hedgerow_headers::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Strips the fields that a rule matches, and keeps all others: a deny list.
    #[default]
    Strip,
    /// Keeps the fields that a rule matches, and strips all others: an allow-list. It has a rule for
    /// each of the [`ESSENTIAL`] fields, and keeps the pseudo-fields of HTTP/2 and HTTP/3.
    Keep,
}

/// The fields that an allow-list always keeps, because without them a message cannot be parsed or
/// delivered: they frame its body, route it, or manage its connection.
///
/// To remove one, strip the message with a second set in [`Mode::Strip`] as well.
///
/// Source: RFC 9112 §6 (`Content-Length`, `Transfer-Encoding`), RFC 9112 §3.2 (`Host`), RFC 9110
/// §7.6.1 (`Connection`).
pub const ESSENTIAL: &[&str] = &["connection", "content-length", "host", "transfer-encoding"];

impl Mode {
    /// Returns the byte that stands for this mode in an image.
    pub(crate) fn byte(self) -> u8 {
        self as u8
    }

    pub(crate) fn of_byte(byte: u8) -> Option<Self> {
        [Self::Strip, Self::Keep].into_iter().find(|mode| mode.byte() == byte)
    }
}
