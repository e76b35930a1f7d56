//! The standard names that no rule of a set matches, ruled out by their number.
//!
//! Most fields of most requests have standard names, and few rules match one.

use http::HeaderName;

use crate::{HeaderSet, hash::Words, name_key::NameKey};

/// Names that `http` holds as numbers. A name that is missing here, or that some version of `http`
/// does not hold as a number, is looked up like any other.
const NAMES: &str = "accept accept-charset accept-encoding accept-language accept-ranges \
    access-control-allow-credentials access-control-allow-headers access-control-allow-methods \
    access-control-allow-origin access-control-expose-headers access-control-max-age \
    access-control-request-headers access-control-request-method age allow alt-svc authorization \
    cache-control cache-status cdn-cache-control connection content-disposition content-encoding \
    content-language content-length content-location content-range content-security-policy \
    content-security-policy-report-only content-type cookie date dnt etag expect expires \
    forwarded from host if-match if-modified-since if-none-match if-range if-unmodified-since \
    last-modified link location max-forwards origin pragma proxy-authenticate \
    proxy-authorization public-key-pins public-key-pins-report-only range referer \
    referrer-policy refresh retry-after sec-websocket-accept sec-websocket-extensions \
    sec-websocket-key sec-websocket-protocol sec-websocket-version server set-cookie \
    strict-transport-security te trailer transfer-encoding upgrade upgrade-insecure-requests \
    user-agent vary via warning www-authenticate x-content-type-options x-dns-prefetch-control \
    x-frame-options x-xss-protection";

/// A name that is not a standard name.
const OTHER: &str = "x-not-a-standard-name";

/// Size of the table. The last entry stands for all greater numbers and is never ruled out.
const NUMBERS: usize = 128;

/// For each number, whether no rule matches the name with that number.
#[derive(Clone, Debug)]
pub(crate) struct StandardNames {
    is_ruled_out: [bool; NUMBERS],
}

impl StandardNames {
    /// Tests the standard names against the rules of `set`.
    ///
    /// `http` does not promise what its names feed to a hasher, so this checks it. Returns `None` if
    /// two names have the same number, or if the words of a name are not its own.
    pub(crate) fn of(set: &HeaderSet<'_>) -> Option<Self> {
        let other = NameKey::of(&HeaderName::from_static(OTHER));
        if other != NameKey::Words(Words::of(OTHER.as_bytes())) {
            return None;
        }
        let mut is_taken = [false; NUMBERS];
        let mut is_ruled_out = [false; NUMBERS];
        for name in NAMES.split(' ') {
            match NameKey::of(&HeaderName::from_static(name)) {
                NameKey::Number(number) if index(number) < NUMBERS - 1 => {
                    if core::mem::replace(&mut is_taken[index(number)], true) {
                        return None;
                    }
                    is_ruled_out[index(number)] = !set.matches(name.as_bytes());
                }
                NameKey::Number(_) => {}
                NameKey::Words(words) if words == Words::of(name.as_bytes()) => {}
                NameKey::Words(_) => return None,
            }
        }
        Some(Self { is_ruled_out })
    }

    /// Returns whether the key of a name proves that no rule matches it.
    #[inline]
    pub(crate) fn rules_out(&self, key: NameKey) -> bool {
        match key {
            NameKey::Number(number) => self.is_ruled_out[index(number)],
            NameKey::Words(_) => false,
        }
    }
}

#[inline]
fn index(number: isize) -> usize {
    (number as usize).min(NUMBERS - 1)
}
