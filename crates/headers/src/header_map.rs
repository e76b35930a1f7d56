//! Stripping of an [`http::HeaderMap`].

use alloc::vec::Vec;
use core::fmt;

use http::{HeaderMap, HeaderName, header::CONNECTION};

use crate::{
    HeaderSet, Mode,
    connection::{self, Nomination, nomination},
};

impl HeaderSet<'_> {
    /// Removes every field that the set [strips](HeaderSet::strips). Returns the number of names
    /// removed.
    ///
    /// A set that strips `Connection` first removes the fields that the map's `Connection` fields
    /// nominate (RFC 9110 §7.6.1), subject to [`nomination`].
    ///
    /// Like any removal from a [`HeaderMap`], this may change the iteration order of the remaining
    /// names. The values of each name keep their order. A set that owns its image is faster than
    /// one that borrows it.
    ///
    /// # Complexity
    ///
    /// Linear in the bytes of the names and of the `Connection` fields, whatever they repeat.
    ///
    /// # Errors
    ///
    /// Returns an error, and leaves the map unchanged, if `Connection` nominates a field of the map
    /// that is meant for all recipients, such as `Content-Length` or `Host`, and that the set does
    /// not strip. Reject the message.
    ///
    /// # Example
    ///
    /// ```
    /// use hedgerow_headers::HeaderSetBuilder;
    /// use http::HeaderMap;
    ///
    /// let set = HeaderSetBuilder::new().rules(["x-internal-*", "x-debug"])?.build();
    /// let mut headers = HeaderMap::new();
    /// headers.insert("x-internal-user-id", "7".parse()?);
    /// headers.insert("accept", "text/html".parse()?);
    /// assert_eq!(set.strip(&mut headers)?, 1);
    /// assert_eq!(headers.len(), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn strip<T: AsRef<[u8]>>(
        &self,
        map: &mut HeaderMap<T>,
    ) -> Result<usize, ConnectionOptionError> {
        let nominated = if self.strips_connection() { self.strip_nominated(map)? } else { 0 };
        let known = match self.mode() {
            Mode::Strip => self.known_names().and_then(|known| known.strip(self, map)),
            Mode::Keep => None,
        };
        Ok(nominated + known.unwrap_or_else(|| strip_each(map, |name| self.strips_name(name))))
    }

    /// Removes the fields that `Connection` nominates.
    fn strip_nominated<T: AsRef<[u8]>>(
        &self,
        map: &mut HeaderMap<T>,
    ) -> Result<usize, ConnectionOptionError> {
        // Of the names of the map that were nominated, whether to remove them: repetitions cost nothing.
        let mut judged = HeaderMap::<bool>::default();
        for value in map.get_all(CONNECTION) {
            for option in connection::options(value.as_ref()) {
                let Ok(name) = HeaderName::from_bytes(option) else { continue };
                if !map.contains_key(&name) || judged.contains_key(&name) {
                    continue;
                }
                let values = map.get_all(&name).iter();
                let removes = match values.map(|value| nomination(option, value.as_ref())).max() {
                    None | Some(Nomination::Keeps) => false,
                    Some(Nomination::Forbidden) if !self.strips_name(&name) => {
                        return Err(ConnectionOptionError { name });
                    }
                    Some(_) => true,
                };
                judged.insert(name, removes);
            }
        }
        let removed = judged.iter().filter(|&(_, &removes)| removes);
        Ok(removed.filter(|&(name, _)| map.remove(name).is_some()).count())
    }
}

/// The error of [`HeaderSet::strip`] for a `Connection` that nominates a field meant for all
/// recipients. The map is unchanged.
///
/// # Example
///
/// ```
/// use hedgerow_headers::{HeaderSetBuilder, presets};
/// use http::HeaderMap;
///
/// let set = HeaderSetBuilder::new().rules(presets::HOP_BY_HOP)?.build();
/// let mut headers = HeaderMap::new();
/// headers.insert("connection", "content-length".parse()?);
/// headers.insert("content-length", "44".parse()?);
/// let error = set.strip(&mut headers).unwrap_err();
/// assert_eq!(error.name(), "content-length");
/// assert_eq!(headers.len(), 2);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionOptionError {
    name: HeaderName,
}

impl ConnectionOptionError {
    /// Returns the nominated field.
    #[must_use]
    pub fn name(&self) -> &HeaderName {
        &self.name
    }
}

impl fmt::Display for ConnectionOptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection: expected an option that may be nominated, found {}", self.name)
    }
}

impl core::error::Error for ConnectionOptionError {}

/// Removes every name that `strips` selects, one by one. Returns their number.
pub(crate) fn strip_each<T>(map: &mut HeaderMap<T>, strips: impl Fn(&HeaderName) -> bool) -> usize {
    let names: Vec<_> = map.keys().filter(|name| strips(name)).cloned().collect();
    names.iter().filter(|&name| map.remove(name).is_some()).count()
}
