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
    value
        .split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|option| !option.is_empty() && option.iter().all(|&byte| is_token(byte)))
}
