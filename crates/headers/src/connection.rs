//! The `Connection` field (RFC 9110 §7.6.1), whose options nominate other fields for removal.

use crate::{Spelling, bytes::compare, token::is_token};

/// Fields that no sender may nominate, because they are meant for all recipients: they frame or
/// route the message, describe its content, carry credentials, or name the sender. A list in lower
/// case, separated by commas. An entry that ends in a hyphen is a prefix. An entry stands for every
/// [equivalent](Spelling::Equivalent) spelling.
///
/// `Transfer-Encoding` concerns one connection only, but only a proxy that reframes the body may
/// remove it.
pub const END_TO_END: &str = "authorization,cache-control,cdn-loop,content-,cookie,forwarded,host,set-cookie,\
    transfer-encoding,via,x-forwarded-,x-real-ip";

/// The effect of a nomination on a field of the message, in order of increasing strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nomination {
    /// The field is kept: `Upgrade`, which has no effect without `Connection`, and `TE: trailers`.
    Keeps,
    /// The field is removed.
    Removes,
    /// The message must be rejected: the field frames or routes it, or is otherwise meant for all
    /// recipients.
    Forbidden,
}

/// Returns the effect of a `Connection` that nominates the field `name` with this `value`.
///
/// # Example
///
/// ```
/// use hedgerow_headers::{Nomination, nomination};
///
/// assert_eq!(nomination(b"X-Hop", b"1"), Nomination::Removes);
/// assert_eq!(nomination(b"TE", b"trailers"), Nomination::Keeps);
/// assert_eq!(nomination(b"Content-Length", b"44"), Nomination::Forbidden);
/// ```
#[must_use]
#[inline(never)]
pub fn nomination(name: &[u8], value: &[u8]) -> Nomination {
    let is = |a: &[u8], b: &[u8]| compare(a, b, Spelling::Equivalent).is_eq();
    let is_end_to_end = |other: &[u8]| {
        let length = if other.ends_with(b"-") { other.len() } else { name.len() };
        is(name.get(..length).unwrap_or_default(), other)
    };
    if options(END_TO_END.as_bytes()).any(is_end_to_end) {
        Nomination::Forbidden
    } else if is(name, b"upgrade") || is(name, b"te") && is(value.trim_ascii(), b"trailers") {
        Nomination::Keeps
    } else {
        Nomination::Removes
    }
}

/// Iterates over the options of a `Connection` field value: the members of a comma-separated list,
/// trimmed of ASCII white space.
///
/// Skips members that are not tokens, since they cannot be field names.
///
/// # Example
///
/// ```
/// use hedgerow_headers::connection_options;
///
/// let options = connection_options(b"keep-alive , X-Hop,, not a token");
/// assert!(options.eq([b"keep-alive".as_slice(), b"X-Hop"]));
/// ```
pub fn options(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    Options { rest: value }
}

/// The rest of a list.
struct Options<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Options<'a> {
    type Item = &'a [u8];

    /// Not inlined: lists are rare, and several callers read them.
    #[inline(never)]
    fn next(&mut self) -> Option<&'a [u8]> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b',');
            let (member, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest.get(1..).unwrap_or_default();
            let option = member.trim_ascii();
            if !option.is_empty() && option.iter().all(|&byte| is_token(byte)) {
                return Some(option);
            }
        }
        None
    }
}
