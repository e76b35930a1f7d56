/// <reference path="./proxy-from-env.d.ts" />
import { BlockList, isIP, isIPv6 } from "node:net";

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
 * Returns the proxy for a URL, from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Loopback hosts never use a proxy.
 *
 * @throws {RequestFailure} if the variable is not an `http:` or `https:` URL
 */
export function proxyFor(target: URL): ProxyServer | undefined {
  if (isLoopback(target.hostname) || isExemptIPv6(target)) return undefined;
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

/** The loopback addresses. It finds IPv4 addresses in IPv4-mapped form too. */
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8);
LOOPBACK.addAddress("::1", "ipv6");

/** Matches `localhost` and the names below it, which RFC 6761 reserves for loopback, with or without a final dot. */
const LOCALHOST = /^(?:[^.]+\.)*localhost\.?$/;

/** Returns whether a host of a URL is a loopback address, or a name that is reserved for one. */
function isLoopback(hostname: string): boolean {
  const host = withoutBrackets(hostname);
  if (isIP(host) === 0) return LOCALHOST.test(host);
  return LOOPBACK.check(host, isIPv6(host) ? "ipv6" : "ipv4");
}

/** Returns an address without the brackets that an IPv6 address has in a URL. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/**
 * Returns whether `NO_PROXY` lists the IPv6 address of a URL, with or without brackets. The package would take the
 * end of an address without brackets for a port.
 */
function isExemptIPv6({ hostname, port, protocol }: URL): boolean {
  if (!isIPv6(withoutBrackets(hostname))) return false;
  const effectivePort = port || (protocol === "https:" ? "443" : "80");
  const list = process.env.no_proxy || process.env.NO_PROXY || "";
  return list.split(/[,\s]/).some((entry) => {
    const [, bracketed, entryPort = effectivePort] = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? [];
    const url = `http://[${bracketed ?? entry}]`;
    // A parsed URL has its address in canonical form.
    return URL.canParse(url) && new URL(url).hostname === hostname && entryPort === effectivePort;
  });
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
