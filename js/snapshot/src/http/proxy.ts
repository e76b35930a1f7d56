/// <reference path="./proxy-from-env.d.ts" />
import { isIP } from "node:net";

import { getProxyForUrl } from "proxy-from-env";

import { RequestFailure } from "./request-failure.js";
import { authorizationOf, withoutUser } from "./server-request.js";

/** A proxy that the environment names. */
export interface ProxyServer {
  /** Without a user. */
  readonly url: URL;
  /** Its name in messages: its scheme, host and port. */
  readonly name: string;
  /** The value of `Proxy-Authorization`, if the URL has a user. */
  readonly authorization: string | undefined;
}

/**
 * Returns the proxy for a URL, from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Loopback addresses are always
 * reached directly.
 *
 * @throws {RequestFailure} if the variable is not an `http:` or `https:` URL
 */
export function proxyFor(target: URL): ProxyServer | undefined {
  if (isLoopback(target.hostname)) return undefined;
  const variable = target.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  // The package would also take `ALL_PROXY`, which often names a proxy of SOCKS.
  const isSet = process.env[variable.toLowerCase()] || process.env[variable];
  const text = isSet ? getProxyForUrl(target) : "";
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new RequestFailure(`${variable}: expected an http: or https: URL of a proxy`, false);
  }
  const plain = withoutUser(url);
  return { url: plain, name: plain.origin, authorization: authorizationOf(url) };
}

/** Returns whether a host is this machine. */
function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

/** The parts of a request that differ for a proxy: the absolute URL, and credentials. */
export interface ProxyFields {
  readonly proxyName?: string;
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the fields of a request to `target`. Requests to `https:` need none, because they use a tunnel. */
export function proxyFields(target: URL): ProxyFields {
  const proxy = target.protocol === "http:" ? proxyFor(target) : undefined;
  if (proxy === undefined) return { headers: {} };
  const { name, authorization } = proxy;
  return {
    proxyName: name,
    path: `${target.origin}${target.pathname}${target.search}`,
    headers: authorization === undefined ? {} : { "proxy-authorization": authorization },
  };
}
