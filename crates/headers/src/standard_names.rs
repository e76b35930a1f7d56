//! The standard names that no rule of a set matches, dismissed by their number.
//!
//! Most fields of most requests have standard names, and hardly any rule is for one.

use http::HeaderName;

use crate::{HeaderSet, hash::Words, shown::Shown};

/// Names that `http` holds as numbers. To leave one out costs time and nothing else, as does one
/// that some version of `http` does not hold so.
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

/// A name that is not among them.
const OTHER: &str = "x-not-a-standard-name";

/// How many numbers are told apart; the last stands for itself and all beyond, and is never
/// dismissed.
const NUMBERS: usize = 128;

/// For every number, whether the name of that number matches no rule.
#[derive(Clone, Debug)]
pub(crate) struct StandardNames {
    is_dismissed: [bool; NUMBERS],
}

impl StandardNames {
    /// The standard names, judged by the rules of `set`.
    ///
    /// That names show numbers and words is not promised by `http`, so it is tried out: `None` if
    /// two names show the same number, or a name shows words that are not its own.
    pub(crate) fn of(set: &HeaderSet<'_>) -> Option<Self> {
        let other = Shown::by(&HeaderName::from_static(OTHER));
        if other != Shown::Words(Words::of_lower_case(OTHER.as_bytes())) {
            return None;
        }
        let mut is_taken = [false; NUMBERS];
        let mut is_dismissed = [false; NUMBERS];
        for name in NAMES.split(' ') {
            match Shown::by(&HeaderName::from_static(name)) {
                Shown::Number(number) if index(number) < NUMBERS - 1 => {
                    if core::mem::replace(&mut is_taken[index(number)], true) {
                        return None;
                    }
                    is_dismissed[index(number)] = !set.matches(name.as_bytes());
                }
                Shown::Number(_) => {}
                Shown::Words(words) if words == Words::of_lower_case(name.as_bytes()) => {}
                Shown::Words(_) => return None,
            }
        }
        Some(Self { is_dismissed })
    }

    /// Whether what a name shows is enough to know that no rule matches it.
    #[inline]
    pub(crate) fn dismisses(&self, shown: Shown) -> bool {
        match shown {
            Shown::Number(number) => self.is_dismissed[index(number)],
            Shown::Words(_) => false,
        }
    }
}

#[inline]
fn index(number: isize) -> usize {
    (number as usize).min(NUMBERS - 1)
}
