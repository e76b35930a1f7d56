//! Stripping an [`http::HeaderMap`].

use alloc::vec::Vec;

use http::{HeaderMap, HeaderName, header::CONNECTION};

use crate::{HeaderSet, connection};

impl HeaderSet<'_> {
    /// Removes every field whose name a rule matches, and returns how many names went.
    ///
    /// A set that matches `Connection` first removes the fields that the map's `Connection` fields
    /// nominate, as RFC 9110 §7.6.1 asks of every intermediary.
    ///
    /// Like all removal from a [`HeaderMap`], this may change the order in which the rest is
    /// iterated; the values of each name keep theirs. A set that owns its image removes faster
    /// than one that borrows it.
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
    /// assert_eq!(set.strip(&mut headers), 1);
    /// assert_eq!(headers.len(), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn strip<T: AsRef<[u8]>>(&self, map: &mut HeaderMap<T>) -> usize {
        let nominated = if self.strips_connection() { strip_nominated(map) } else { 0 };
        let known = self.known_names().and_then(|known| known.strip(self, map));
        nominated + known.unwrap_or_else(|| strip_each(map, |name| self.matches_name(name)))
    }
}

/// Removes every name that `matches`, one after the other.
fn strip_each<T>(map: &mut HeaderMap<T>, matches: impl Fn(&HeaderName) -> bool) -> usize {
    let names: Vec<_> = map.keys().filter(|name| matches(name)).cloned().collect();
    names.iter().filter(|&name| map.remove(name).is_some()).count()
}

/// Removes the fields that `Connection` nominates.
fn strip_nominated<T: AsRef<[u8]>>(map: &mut HeaderMap<T>) -> usize {
    let nominated: Vec<_> = map
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| connection::options(value.as_ref()))
        .filter_map(|option| HeaderName::from_bytes(option).ok())
        .collect();
    nominated.iter().filter(|&name| map.remove(name).is_some()).count()
}
