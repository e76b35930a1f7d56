//! Which spellings of a name a rule matches.

/// Which spellings of a name a rule matches, in addition to upper and lower case.
///
/// # Example
///
/// ```
/// use hedgerow_headers::{HeaderSetBuilder, Spelling};
///
/// let set = HeaderSetBuilder::new().rule("x-internal-*")?.build();
/// assert!(set.matches(b"X-Internal-User") && set.matches(b"x_internal.user"));
///
/// let set = HeaderSetBuilder::with_spelling(Spelling::Exact).rule("x-internal-*")?.build();
/// assert!(set.matches(b"X-Internal-User") && !set.matches(b"x_internal.user"));
/// # Ok::<(), hedgerow_headers::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// Takes `-`, `_` and `.` for the same character, as servers do that hand fields to programs as
    /// variables: for CGI, WSGI, Rack, PSGI and PHP, `X-Internal-User`, `X_Internal_User` and
    /// `X-Internal_User` are all `HTTP_X_INTERNAL_USER`; for PHP, also `X.Internal.User`.
    #[default]
    Equivalent,
    /// Takes all characters but the two cases of a letter for different ones, as HTTP does. Sets with
    /// [`Mode::Keep`](crate::Mode::Keep) always do: they keep no spelling that is not listed.
    Exact,
}

impl Spelling {
    /// Returns `byte` as a rule has it: in lower case, and `-` for every equivalent character. Not
    /// inlined where size matters more.
    #[cfg_attr(feature = "front", inline)]
    #[cfg_attr(not(feature = "front"), inline(never))]
    pub(crate) fn fold(self, byte: u8) -> u8 {
        match byte {
            b'_' | b'.' if self == Self::Equivalent => b'-',
            byte => byte.to_ascii_lowercase(),
        }
    }

    /// Returns the byte that stands for this spelling in an image.
    pub(crate) fn byte(self) -> u8 {
        self as u8
    }

    pub(crate) fn of_byte(byte: u8) -> Option<Self> {
        [Self::Equivalent, Self::Exact].into_iter().find(|spelling| spelling.byte() == byte)
    }
}
