//! The `Connection` field (RFC 9110 §7.6.1), whose options nominate further fields to remove.

use crate::token::is_token;

/// The options of one `Connection` field value: the members of a comma-separated list that are
/// tokens, without the ASCII white space around them.
///
/// Members that are no token cannot be a field name, and are passed over.
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

/// What is left of a list.
struct Options<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Options<'a> {
    type Item = &'a [u8];

    /// Not inlined: lists are rare, and those who read them are many.
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
