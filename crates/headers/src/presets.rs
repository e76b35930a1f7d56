//! Rule lists for common platforms, each with its source.
//!
//! They are plain lists, to be given to [`HeaderSetBuilder::rules`](crate::HeaderSetBuilder::rules)
//! together or apart.
//!
//! # Example
//!
//! ```
//! use hedgerow_headers::{HeaderSetBuilder, presets};
//!
//! let set = HeaderSetBuilder::new()
//!     .rules(presets::HOP_BY_HOP)?
//!     .rules(presets::CLOUDFLARE)?
//!     .build();
//! assert!(set.matches(b"Keep-Alive"));
//! assert!(set.matches(b"CF-Connecting-IP"));
//! # Ok::<(), hedgerow_headers::RuleError>(())
//! ```

/// The fields that concern one connection only, and that a proxy may remove while it forwards the body
/// as it is framed.
///
/// Source: RFC 9110 §7.6.1, with `Proxy-Authenticate` and `Proxy-Authorization` as in RFC 2616 §13.5.1
/// for recipients that still follow it. A set that strips `Connection` also strips the fields that a
/// message's `Connection` [nominates](crate::nomination).
///
/// Left out are the fields that only the party that frames the message anew may remove; see
/// [`HOP_BY_HOP_REFRAMED`].
pub const HOP_BY_HOP: &[&str] =
    &["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"];

/// All hop-by-hop fields, for a proxy that decodes the body, frames it anew, and sends the trailers and
/// upgrades that it supports itself.
///
/// With any other proxy, a set of these enables request smuggling: without `Transfer-Encoding`, the
/// body is sent without framing, and the next server reads it as another request.
///
/// Source: as of [`HOP_BY_HOP`], with `TE`, `Trailer`, `Transfer-Encoding` and `Upgrade`; RFC 9112 §6.1
/// says who may remove `Transfer-Encoding`.
pub const HOP_BY_HOP_REFRAMED: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The fields that Cloudflare adds to a request on its way to the origin, and its internal ones.
///
/// Source: Cloudflare Fundamentals, *HTTP headers*, request headers; `cf-int-*` from Cloudflare's
/// article on `trie-hard`, *A good day to trie-hard* (2024).
pub const CLOUDFLARE: &[&str] = &[
    "cdn-loop",
    "cf-connecting-ip",
    "cf-connecting-ipv6",
    "cf-connecting-o2o",
    "cf-ew-via",
    "cf-int-*",
    "cf-ipcountry",
    "cf-pseudo-ipv4",
    "cf-ray",
    "cf-visitor",
    "cf-worker",
    "true-client-ip",
];

/// The fields that Vercel's proxy adds to a request on its way to a deployment.
///
/// Source: Vercel documentation, *Request headers*.
pub const VERCEL: &[&str] = &["x-now-*", "x-vercel-*"];

/// The request fields by which the parts of a Next.js server speak to each other. A client that
/// forges `x-middleware-subrequest` could skip the middleware, authorization included
/// (CVE-2025-29927); one that forges `x-nextjs-data` could poison a cache (CVE-2026-44572).
///
/// Source: `INTERNAL_HEADERS` in Next.js, `server/lib/server-ipc/utils.ts`, of 16.4 and of its
/// `canary` branch (`x-nextjs-request-id`, `x-nextjs-html-request-id`); the advisory
/// GHSA-f82v-jwr5-mffw.
pub const NEXT: &[&str] = &[
    "next-resume",
    "x-matched-path",
    "x-middleware-*",
    "x-next-resume-state-length",
    "x-nextjs-data",
    "x-nextjs-html-request-id",
    "x-nextjs-request-id",
    "x-now-route-matches",
];

/// The response fields that tell a Next.js server what its middleware decided, among them the
/// request fields that it set. Fields that the client router reads are not listed: `x-matched-path`,
/// `x-middleware-cache`, `x-middleware-skip` and `x-nextjs-*`.
///
/// Source: Next.js 16.4, `server/web/spec-extension/response.ts` and
/// `server/lib/router-utils/resolve-routes.ts`; for what the client reads,
/// `shared/lib/router/router.ts` and `client/components`.
pub const NEXT_RESPONSES: &[&str] = &[
    "x-middleware-next",
    "x-middleware-override-headers",
    "x-middleware-redirect",
    "x-middleware-refresh",
    "x-middleware-request-*",
    "x-middleware-rewrite",
    "x-middleware-set-cookie",
    "x-now-route-matches",
];

/// All of them, by the names that JavaScript has for them: the list for requests, and the one for
/// responses.
pub const ALL: [(&str, &[&str], &[&str]); 5] = [
    ("hop-by-hop", HOP_BY_HOP, HOP_BY_HOP),
    ("hop-by-hop-reframed", HOP_BY_HOP_REFRAMED, HOP_BY_HOP_REFRAMED),
    ("cloudflare", CLOUDFLARE, CLOUDFLARE),
    ("vercel", VERCEL, VERCEL),
    ("next", NEXT, NEXT_RESPONSES),
];

#[cfg(test)]
mod tests {
    use crate::HeaderSetBuilder;

    #[test]
    fn every_preset_is_sorted_in_lower_case_and_accepted() {
        for preset in super::ALL.iter().flat_map(|(_, requests, responses)| [requests, responses]) {
            assert!(preset.is_sorted());
            assert!(preset.iter().all(|rule| *rule == rule.to_ascii_lowercase()));
            let set = HeaderSetBuilder::new().rules(*preset).expect("valid rules").build();
            assert_eq!(set.len(), preset.len());
        }
    }
}
