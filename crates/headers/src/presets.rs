//! Rule lists for common platforms, each with its source.
//!
//! The lists are plain slices. Pass one or several to
//! [`HeaderSetBuilder::rules`](crate::HeaderSetBuilder::rules).
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

/// The hop-by-hop fields that a proxy may remove while it forwards the body with its framing.
///
/// A set that strips `Connection` also strips the fields that a message's `Connection`
/// [nominates](crate::nomination). The fields that only a proxy that reframes the body may remove
/// are in [`HOP_BY_HOP_REFRAMED`].
///
/// Source: RFC 9110 §7.6.1; `Proxy-Authenticate` and `Proxy-Authorization` from RFC 2616 §13.5.1,
/// for recipients that still follow it.
pub const HOP_BY_HOP: &[&str] =
    &["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"];

/// All hop-by-hop fields, for a proxy that decodes and reframes the body and sends its own trailers
/// and upgrades.
///
/// In any other proxy these rules enable request smuggling: without `Transfer-Encoding` the body is
/// sent without framing, and the next server reads it as another request.
///
/// Source: that of [`HOP_BY_HOP`], with `TE`, `Trailer`, `Transfer-Encoding` and `Upgrade`. RFC 9112
/// §6.1 says which proxies may remove `Transfer-Encoding`.
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

/// The fields that Cloudflare adds to a request to the origin, and Cloudflare's internal fields.
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

/// The fields that Vercel's proxy adds to a request to a deployment.
///
/// Source: Vercel documentation, *Request headers*.
pub const VERCEL: &[&str] = &["x-now-*", "x-vercel-*"];

/// The internal request fields of a Next.js server.
///
/// A client that forges `x-middleware-subrequest` could skip the middleware and its authorization
/// (CVE-2025-29927). A client that forges `x-nextjs-data` could poison a cache (CVE-2026-44572).
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

/// The response fields in which Next.js middleware reports its decisions to the server, including
/// the request fields it set.
///
/// The fields that the client router reads are not listed: `x-matched-path`, `x-middleware-cache`,
/// `x-middleware-skip` and `x-nextjs-*`.
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

/// All presets: the name in JavaScript, the rules for requests, and the rules for responses.
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
