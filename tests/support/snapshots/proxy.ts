/** A reverse proxy that injects faults. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "../../origin/fault.mjs";
import { Pace } from "../../origin/pace.mjs";
import { openResource } from "../../origin/resource.mjs";
import { sendBody } from "../../origin/send.mjs";
import { closed, listening } from "../http/listen.js";

/** The fault of a request. By default the request and its response are passed on. */
export interface ProxyFault {
  /** The status of a response in place of the server's. */
  readonly status?: number;
  /** The header fields of that response; without a status, those that replace the server's. */
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Whether the response is lost with the connection. */
  readonly loseResponse?: boolean;
  /** The request waits for this. */
  readonly hold?: Promise<unknown>;
  /** The response waits for this. */
  readonly delay?: Promise<unknown>;
  /** The fault of a response whose body has a length. */
  readonly fault?: (length: number) => Fault;
  /** Changes the body of the response, which has no `Content-Length` then, but the other fields of `headers`. */
  readonly change?: (body: Buffer) => Buffer;
  /** The number of bytes after which the request is lost with the connection. It is not passed on. */
  readonly loseRequestAfter?: number;
}

export type InjectFault = (request: IncomingMessage) => ProxyFault | undefined;

export interface Proxy extends AsyncDisposable {
  readonly endpoint: URL;
  /** The methods and paths of all requests. */
  readonly requests: string[];
}

/** Options of {@link startProxy}. */
export interface ProxyOptions {
  /** Whether requests name the server in place of the proxy. Default: `false`. */
  readonly host?: boolean;
  /** The key and the certificate of the proxy. Default: it has no TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** Starts a proxy for a server. @param inject may change the URL and the header fields of a request */
export async function startProxy(
  target: URL,
  inject: InjectFault,
  { host = false, tls }: ProxyOptions = {},
): Promise<Proxy> {
  const requests: string[] = [];
  const answer = async (asked: IncomingMessage, response: ServerResponse) => {
    requests.push(`${asked.method} ${asked.url}`);
    const injected = inject(asked) ?? {};
    if (host) asked.headers.host = target.host;
    if (injected.loseRequestAfter !== undefined) return lose(asked, injected.loseRequestAfter);
    await injected.hold;
    if (injected.status === undefined) return pass(target, asked, response, injected);
    asked.resume();
    await once(asked, "end");
    response.writeHead(injected.status, injected.headers).end(injected.body);
  };
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  return {
    endpoint: await listening(server, tls === undefined ? "http" : "https"),
    requests,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** Passes a request on. Its headers stay as they are. */
function pass(
  target: URL,
  asked: IncomingMessage,
  response: ServerResponse,
  injected: ProxyFault,
): void {
  const { method, url, headers } = asked;
  const { hostname, port } = target;
  const passed = request({ hostname, port, method, path: url, headers, agent: false });
  let isAnswered = false;
  // A server that rejects a request may close the connection while the rest of the body is written.
  passed.on("error", () => isAnswered || response.destroy());
  response.on("close", () => passed.destroy());
  passed.on("response", async (found) => {
    isAnswered = true;
    await injected.delay;
    if (injected.loseResponse) {
      found.resume();
      await once(found, "end");
      response.destroy();
      return;
    }
    if (injected.change !== undefined) {
      const body = await buffer(found).catch(() => undefined);
      // The client has closed the connection.
      if (body === undefined) return;
      const changed = injected.change(body);
      const { "content-length": _, ...headers } = found.headers;
      response.writeHead(found.statusCode ?? 0, { ...headers, ...injected.headers }).end(changed);
      return;
    }
    if (injected.fault !== undefined) return sendFaulty(found, response, injected.fault);
    response.writeHead(found.statusCode ?? 0, { ...found.headers, ...injected.headers });
    found.pipe(response);
  });
  asked.pipe(passed);
}

/** Sends a response with a fault. */
async function sendFaulty(
  found: IncomingMessage,
  response: ServerResponse,
  faultOf: (length: number) => Fault,
): Promise<void> {
  const body = await buffer(found).catch(() => undefined);
  // The client has closed its connection.
  if (body === undefined) return;
  const fault = faultOf(body.length);
  if (fault.noAnswer) return;
  if (fault.firstByte !== undefined) await sleep(fault.firstByte);
  if (response.destroyed) return;
  response.writeHead(found.statusCode ?? 0, found.headers);
  const { bytesPerSecond } = fault;
  const pace = bytesPerSecond === undefined ? undefined : new Pace(bytesPerSecond);
  const all = { start: 0, end: body.length };
  await sendBody(response, openResource(body), all, fault, pace, () => {});
}

function lose(asked: IncomingMessage, after: number): void {
  let received = 0;
  asked.on("data", (chunk: Buffer) => {
    received += chunk.length;
    if (received >= after) asked.destroy();
  });
  asked.on("end", () => asked.destroy());
}
