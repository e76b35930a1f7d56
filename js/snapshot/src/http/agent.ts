/** Connections to servers, directly or through the proxies that the environment names. */
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import {
  Agent as HttpsAgent,
  type RequestOptions as HttpsRequestOptions,
  request as httpsRequest,
} from "node:https";
import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";

// @ts-expect-error The package has no types.
import { getProxyForUrl } from "proxy-from-env";

import { CleanCause, RequestFailure, responseFailure } from "./failure.js";
import { authorizationOf, withoutUser } from "./request.js";
import { isPermanent } from "./retry.js";
import { StepTimer } from "./step-timer.js";

/** A proxy that the environment names. */
interface ProxyServer {
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
  if (LOOPBACK.test(target.hostname) || isExemptIPv6(target)) return undefined;
  const variable = target.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  // The package would also take `ALL_PROXY`, which often names a proxy of SOCKS.
  const isSet = process.env[variable.toLowerCase()] || process.env[variable];
  const text: string = isSet ? getProxyForUrl(target) : "";
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new RequestFailure(`${variable}: expected an http: or https: URL of a proxy`, false);
  }
  const plain = withoutUser(url);
  return { url: plain, name: plain.origin, authorization: authorizationOf(url) };
}

/**
 * Matches loopback addresses as a URL writes them, also in IPv4-mapped form, and `localhost` and the names below it,
 * which RFC 6761 reserves for loopback, with or without a final dot.
 */
const LOOPBACK =
  /^(?:127\.[\d.]+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]|(?:[^.]+\.)*localhost\.?)$/;

/** Returns an address without the brackets that an IPv6 address has in a URL. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/**
 * Returns whether `NO_PROXY` lists the IPv6 address of a URL, with or without brackets. The package would mistake the
 * end of an address without brackets for a port.
 */
function isExemptIPv6({ hostname, port, protocol }: URL): boolean {
  if (!hostname.startsWith("[")) return false;
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
interface ProxyFields {
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

/** How agents keep and limit connections. */
interface AgentOptions {
  readonly keepAlive: boolean;
  readonly maxSockets?: number;
  /** How long a proxy may take to connect, in milliseconds. */
  readonly connectTimeout?: number | undefined;
}

/** Receives a connection or the reason why there is none. */
type Callback = (error: Error | null, socket: Duplex) => void;

/** How a connection is read, if it is not read as a stream. */
interface ReadOptions {
  readonly onread?: OnReadOpts;
}

/** A socket, or the request for a tunnel. */
interface Connection {
  destroy(): unknown;
  on(event: "error", act: (error: Error) => void): unknown;
}

/** Connections that are being opened, which no request holds yet. */
class PendingConnections {
  readonly #pending = new Map<Connection, (error: Error) => void>();
  readonly #timeout: number | undefined;

  /** @param timeout how long each step may take, in milliseconds */
  constructor(timeout: number | undefined) {
    this.#timeout = timeout;
  }

  /**
   * Adds a connection. Returns the function to call when it is open, or has failed.
   *
   * @param callback receives the outcome once
   */
  add(connection: Connection, callback: Callback): Callback {
    const timer = new StepTimer((message) => fail(new RequestFailure(message, true)));
    const settle: Callback = (error, socket) => {
      timer.stop();
      if (!this.#pending.delete(connection)) return;
      if (error !== null) connection.destroy();
      callback(error, socket);
    };
    const fail = (error: Error) => settle(error, undefined as unknown as Duplex);
    this.#pending.set(connection, fail);
    connection.on("error", fail);
    if (this.#timeout !== undefined) timer.start(this.#timeout, "connection");
    return settle;
  }

  /** Closes all of them. */
  destroy(): void {
    for (const fail of this.#pending.values()) {
      fail(new RequestFailure("the request was cancelled", true));
    }
  }
}

/** Names the proxy in errors. */
function namingProxy(proxy: ProxyServer, callback: Callback): Callback {
  return (error, socket) => callback(error === null ? null : proxyFailure(proxy, error), socket);
}

/** An agent for `http:` that connects to the proxy of the environment, if there is one for the host. */
class ProxyHttpAgent extends HttpAgent {
  readonly #pending: PendingConnections;
  /** Connections to proxies. */
  readonly #proxied = new WeakSet<Duplex>();

  constructor({ connectTimeout, ...options }: AgentOptions) {
    super(options);
    this.#pending = new PendingConnections(connectTimeout);
  }

  override createConnection(options: RequestOptions & ReadOptions, callback: Callback) {
    const proxy = proxyFor(new URL(`http://${authorityOf(options)}`));
    if (proxy === undefined) return super.createConnection(options, callback);
    const { hostname: host, port, servername } = addressOf(proxy);
    const isSecure = proxy.url.protocol === "https:";
    const onread = options.onread === undefined ? {} : { onread: options.onread };
    const socket = isSecure
      ? connectTls({ host, port, servername, ...onread })
      : connectTcp({ host, port, noDelay: true, ...onread });
    const settle = this.#pending.add(socket, namingProxy(proxy, callback));
    this.#proxied.add(socket);
    socket.once(isSecure ? "secureConnect" : "connect", () => settle(null, socket));
    return undefined;
  }

  /**
   * Keeps no connection to a proxy. Some proxies, such as tinyproxy, close it after each response without notice, and
   * the next request would be lost.
   */
  override keepSocketAlive(socket: Duplex): boolean {
    // The types declare no result.
    return !this.#proxied.has(socket) && Boolean(super.keepSocketAlive(socket));
  }

  /** Closes the connections to proxies that no request holds yet. */
  destroyPending(): void {
    this.#pending.destroy();
  }

  override destroy(): void {
    this.destroyPending();
    super.destroy();
  }
}

/** An agent for `https:` that opens a tunnel through the proxy of the environment, if there is one for the host. */
class ProxyHttpsAgent extends HttpsAgent {
  readonly #pending: PendingConnections;

  constructor({ connectTimeout, ...options }: AgentOptions) {
    super(options);
    this.#pending = new PendingConnections(connectTimeout);
  }

  override createConnection(options: HttpsRequestOptions, callback: Callback) {
    const authority = authorityOf(options);
    const proxy = proxyFor(new URL(`https://${authority}`));
    if (proxy === undefined) return super.createConnection(options, callback);
    const tunnel = openTunnel(proxy, authority);
    const startTls: Callback = (error, tcp) => {
      if (error !== null) return callback(error, tcp);
      const withSocket = { ...options, socket: tcp } as HttpsRequestOptions;
      const tls = super.createConnection(withSocket) as Socket;
      const settleTls = this.#pending.add(tls, callback);
      tls.once("secureConnect", () => settleTls(null, tls));
    };
    const settle = this.#pending.add(tunnel, namingProxy(proxy, startTls));
    tunnel.once("connect", (response, socket, head) => {
      const failure = tunnelFailure(response, head);
      if (failure === undefined) return settle(null, socket);
      socket.destroy();
      settle(failure, socket);
    });
    return undefined;
  }

  /** Closes the connections to proxies that no request holds yet. */
  destroyPending(): void {
    this.#pending.destroy();
  }

  override destroy(): void {
    this.destroyPending();
    super.destroy();
  }
}

/** An agent that honours the proxies of the environment. */
export type ProxyAgent = ProxyHttpAgent | ProxyHttpsAgent;

/** Returns an agent for a scheme, which honours the proxies of the environment. */
export function agentFor(protocol: string, options: AgentOptions): ProxyAgent {
  return protocol === "https:" ? new ProxyHttpsAgent(options) : new ProxyHttpAgent(options);
}

/** Opens a connection to the server of a URL, or to its proxy, without a request. It may still be connecting. */
export function connectTo(
  agent: ProxyAgent,
  url: URL,
  options: ReadOptions & { readonly session: Buffer | undefined },
  callback: Callback,
): void {
  const { hostname: host, port, servername } = addressOf({ url });
  let isSettled = false;
  const settle: Callback = (error, socket) => {
    // Node calls it again when the connection is open.
    if (!isSettled) callback(error, socket);
    isSettled = true;
  };
  const all = { host, port, servername, noDelay: true, ...options };
  const socket = agent.createConnection(all as HttpsRequestOptions, settle);
  if (socket) settle(null, socket);
}

/** Sends the request for a tunnel. */
function openTunnel(proxy: ProxyServer, authority: string) {
  const { url, authorization } = proxy;
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  const credentials = authorization === undefined ? {} : { "proxy-authorization": authorization };
  const headers = { host: authority, ...credentials };
  // Without it, Node would check the certificate of the proxy against the host of the header.
  const { servername } = addressOf(proxy);
  return request(url, {
    method: "CONNECT",
    path: authority,
    headers,
    agent: false,
    servername,
  } as HttpsRequestOptions).end();
}

/**
 * Returns why a response to `CONNECT` does not open a tunnel, or undefined if it does.
 *
 * @param head bytes that arrived with the response. A server speaks only after the client, so the proxy wrote them,
 *   and they must not be read as a response of the server
 */
function tunnelFailure(response: IncomingMessage, head: Buffer): RequestFailure | undefined {
  const { statusCode: status = 0 } = response;
  if (status < 200 || status >= 300) return responseFailure(response);
  if (head.length === 0) return undefined;
  return new RequestFailure("sent bytes before the tunnel was open", false, { status });
}

/** Returns the host and port that a connection is for. */
function authorityOf({ host, port, defaultPort }: RequestOptions): string {
  const name = host ?? "localhost";
  return `${name.includes(":") ? `[${name}]` : name}:${port ?? defaultPort}`;
}

/** Returns where a server or proxy is, and the name that its certificate must have: empty for an address. */
function addressOf({ url }: Pick<ProxyServer, "url">) {
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const hostname = withoutBrackets(url.hostname);
  return { hostname, port, servername: isIP(hostname) === 0 ? hostname : "" };
}

/** Returns the failure of a connection to a proxy, which names the proxy without its user. */
function proxyFailure({ name }: ProxyServer, error: Error): RequestFailure {
  if (error instanceof RequestFailure) {
    return new RequestFailure(`proxy ${name}: ${error.message}`, error.isTransient, error.details);
  }
  const cause = new CleanCause(error);
  return new RequestFailure(`proxy ${name}: ${cause.description}`, !isPermanent(error), { cause });
}
