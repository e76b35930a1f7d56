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
pub const HOP_BY_HOP: &[&str] = &[
    // Whether the connection stays open, and which other fields concern it. The next server obeys.
    "connection",
    // How long the connection stays open.
    "keep-alive",
    // The challenge of a proxy, and the credentials for it, which it takes as the client's login.
    "proxy-authenticate",
    "proxy-authorization",
    // `connection` as old clients name it. Some servers obey it.
    "proxy-connection",
];

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
    // The transfer codings that the sender accepts, and whether it accepts trailers.
    "te",
    // The names of the fields that follow the body.
    "trailer",
    // How the body is framed. The next server decides by it where the body ends.
    "transfer-encoding",
    // The protocols to switch to. The next server may switch.
    "upgrade",
];

/// The fields that Cloudflare adds to a request to the origin, and Cloudflare's internal fields.
///
/// Applications trust several of them as the identity, the address or the location of the client.
/// Not listed are the fields that clients send to Cloudflare (`cf-access-client-id`,
/// `cf-access-client-secret`, `cf-access-token`), and those that any proxy may add
/// (`x-forwarded-for`, `x-real-ip`, and the `client-cert` of RFC 9440).
///
/// Source: Cloudflare's documentation: Fundamentals, *HTTP headers*, request headers; Rules,
/// *Available Managed Transforms*, request headers, with `cf-threat-score`, which earlier versions
/// of that page list; Access, *Validate JWTs*; SSL/TLS, *Client certificates*, forwarding; Cache,
/// *Cache by device type*; `cf-warp-tag-*` from the source of `cloudflared`; `cf-int-*` from the
/// article on `trie-hard`, *A good day to trie-hard* (2024).
pub const CLOUDFLARE: &[&str] = &[
    // Proxies that the request passed: Cloudflare and other networks stop loops by it.
    "cdn-loop",
    // Access: the address of the user. Applications take it as the login, often without the token.
    "cf-access-authenticated-user-email",
    // Access: the signed token of the user. Applications must verify it; some only look for it.
    "cf-access-jwt-assertion",
    // Managed Transform: how likely a bot is. Applications admit or refuse by it.
    "cf-bot-score",
    // Managed Transform: the client's certificate, and whether it is valid. Applications take it
    // as the identity of a device or a service.
    "cf-cert-*",
    // mTLS: the client's certificate, forwarded. Trusted as `cf-cert-*`.
    "cf-client-cert-*",
    // The client's address. Applications log it, limit rates by it and admit by it.
    "cf-connecting-ip",
    "cf-connecting-ipv6",
    // Set if the request passed another zone of Cloudflare before.
    "cf-connecting-o2o",
    // Whether the client is a phone, a tablet or a desktop. Applications choose a page by it.
    "cf-device-type",
    // Stops loops of Workers, as `cdn-loop` does.
    "cf-ew-via",
    // Internal to Cloudflare's proxies.
    "cf-int-*",
    // Managed Transform, and IP geolocation: where the client is. Applications choose prices,
    // licences and laws by it.
    "cf-ipcity",
    "cf-ipcontinent",
    "cf-ipcountry",
    "cf-iplatitude",
    "cf-iplongitude",
    // Managed Transform: the fingerprint of the client's TLS. Applications recognise bots by it.
    "cf-ja3-hash",
    "cf-ja4",
    // Managed Transform: where the client is.
    "cf-metro-code",
    "cf-postal-code",
    // The client's IPv6 address as a made-up IPv4 address. Trusted as `cf-connecting-ip`.
    "cf-pseudo-ipv4",
    // The identifier of the request, for logs.
    "cf-ray",
    // Managed Transform: where the client is.
    "cf-region",
    "cf-region-code",
    // Managed Transform, formerly: how suspicious the client is. Applications refuse by it.
    "cf-threat-score",
    // Managed Transform: where the client is.
    "cf-timezone",
    // Managed Transform: whether the bot is a known one. Applications admit by it.
    "cf-verified-bot",
    // Whether the client used HTTPS. Applications redirect by it.
    "cf-visitor",
    // The tunnel through which `cloudflared` forwarded the request.
    "cf-warp-tag-*",
    // The zone of the Worker that sent the request. Applications admit by it.
    "cf-worker",
    // Managed Transform: whether the password in the request is known to be leaked. Applications
    // ask for another one.
    "exposed-credential-check",
    // Managed Transform: whether an uploaded file is harmful. Applications refuse by it.
    "malicious-uploads-detection",
    // Managed Transform: the client's address. Trusted as `cf-connecting-ip`.
    "true-client-ip",
];

/// The fields that Vercel's proxy adds to a request to a deployment.
///
/// The prefixes also match three kinds of fields that others send: `x-vercel-protection-bypass` and
/// `x-vercel-set-bypass-cookie`, by which your own clients pass a protected deployment;
/// `x-vercel-signature` of webhooks and drains, which is verified; and `x-now-*` of uploads by older
/// tools. Do not strip them where these are received. Not listed are the fields that any proxy may
/// add: `x-forwarded-*` and `x-real-ip`, in which `@vercel/functions` looks for the client's
/// address.
///
/// Source: Vercel documentation, *Request headers*; the source of `@vercel/functions`.
pub const VERCEL: &[&str] = &[
    // The names that Vercel used before, such as `x-now-deployment-url`.
    "x-now-*",
    // The client's address and location (`x-vercel-forwarded-for`, `x-vercel-ip-*`), which
    // applications trust as those of `CLOUDFLARE`; the fingerprint of its TLS
    // (`x-vercel-ja4-digest`); the token by which a deployment logs in to other services
    // (`x-vercel-oidc-token`); the request and the deployment (`x-vercel-id`,
    // `x-vercel-deployment-url`).
    "x-vercel-*",
];

/// The internal request fields of a Next.js server.
///
/// A client that forges `x-middleware-subrequest` could skip the middleware and its authorization
/// (CVE-2025-29927). A client that forges `x-nextjs-data` could poison a cache (CVE-2026-44572).
///
/// The fields that the client of Next.js sends are not listed: `rsc`, `next-*` other than
/// `next-resume`, `x-deployment-id` and `x-middleware-prefetch`. There are two exceptions, because
/// Next.js lists them as internal. `x-nextjs-data` is sent as well, but the server ignores it and
/// sets its own. `x-nextjs-request-id` and `x-nextjs-html-request-id` are sent in development only.
///
/// Add the rule `x-middleware-prefetch` in front of a cache that stores responses under the URL
/// alone: a request with that field is answered by `{}` wherever a page renders on demand. Prefetches
/// of the Pages Router then render the page.
///
/// Source: `INTERNAL_HEADERS` in Next.js, `server/lib/server-ipc/utils.ts`, of 16.4 and of its
/// `canary` branch (`x-nextjs-request-id`, `x-nextjs-html-request-id`), and in
/// `shared/lib/constants.ts` of 13.4 to 15 (`x-invoke-*`, `x-middleware-invoke`); the advisories
/// GHSA-f82v-jwr5-mffw and GHSA-3g8h-86w9-wvmq. Next.js trusts these fields wherever it does not
/// remove them itself.
pub const NEXT: &[&str] = &[
    // The state of a page that is to be resumed, which a platform sends.
    "next-resume",
    // Between the router and the renderer of Next.js 13 and 14: the page, the query, the status and
    // the error to render.
    "x-invoke-error",
    "x-invoke-output",
    "x-invoke-path",
    "x-invoke-query",
    "x-invoke-status",
    // The route that a platform has matched.
    "x-matched-path",
    // Runs only the middleware, in Next.js 13 and 14.
    "x-middleware-invoke",
    // The decisions of the middleware; see `NEXT_RESPONSES`.
    "x-middleware-next",
    "x-middleware-override-headers",
    "x-middleware-redirect",
    "x-middleware-refresh",
    "x-middleware-request-*",
    "x-middleware-rewrite",
    "x-middleware-set-cookie",
    "x-middleware-skip",
    // The middleware that called the server, which is skipped: up to 15.2.
    "x-middleware-subrequest",
    "x-middleware-subrequest-id",
    "x-next-resume-state-length",
    // A request for the data of a page. The router sets it by the path.
    "x-nextjs-data",
    // Which page receives the debug information of a request.
    "x-nextjs-html-request-id",
    "x-nextjs-request-id",
    // The parameters of the route that a platform has matched.
    "x-now-route-matches",
];

/// The response fields in which Next.js middleware reports its decisions to the server, including
/// the request fields it set.
///
/// A Next.js server obeys them on what its proxy returns, also if that is the response of another
/// server; to clients they reveal where requests lead. The fields that the client router reads are
/// not listed: `x-matched-path`, `x-middleware-cache`, `x-middleware-skip` and `x-nextjs-*`.
///
/// Source: Next.js 16.4, `server/web/spec-extension/response.ts` and
/// `server/lib/router-utils/resolve-routes.ts`; for what the client reads,
/// `shared/lib/router/router.ts` and `client/components`.
pub const NEXT_RESPONSES: &[&str] = &[
    // The request continues.
    "x-middleware-next",
    // The names of all fields of the request that continues; their values are in
    // `x-middleware-request-*`.
    "x-middleware-override-headers",
    // The client goes elsewhere.
    "x-middleware-redirect",
    // The response is the answer.
    "x-middleware-refresh",
    "x-middleware-request-*",
    // The path or the server to which the request goes.
    "x-middleware-rewrite",
    // Cookies that pages see in the same request.
    "x-middleware-set-cookie",
    // The parameters of the route that a platform has matched.
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
