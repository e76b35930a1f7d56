/** Stripping of the requests and responses of Node's servers, both `node:http` and `node:http2`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

import { wrongType } from "../error.js";
import type { HeaderStripper } from "../headers/header-stripper.js";
import type { Stripping } from "./adapter.js";
import { membership, namesOf, namesToStrip, valuesOf, withoutNames } from "./fields.js";
import { sender, stripStream } from "./http2-stream.js";

/**
 * Strips a request in place: `headers`, `headersDistinct` and `rawHeaders`. Trailers are kept. If a rule
 * matches `Connection`, an upgrade request keeps `Upgrade` and gets `Connection: Upgrade`.
 *
 * @returns the number of field lines removed
 * @throws {HedgerowError} `ERR_CONNECTION_OPTION` if `Connection` nominates a field meant for all recipients.
 * The request is then unchanged: answer 400, or destroy its socket. `ERR_ARGUMENT` if an argument has the
 * wrong type
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { HeaderStripper } from "hedgerow";
 * import { stripRequest } from "hedgerow/connect";
 *
 * const internal = new HeaderStripper(["x-internal-*"]);
 * createServer().on("upgrade", (request, socket) => {
 *   try {
 *     stripRequest(internal, request);
 *   } catch {
 *     socket.destroy();
 *   }
 * });
 * ```
 */
export function stripRequest(stripper: HeaderStripper, request: IncomingMessage): number {
  return stripIncoming(silently(stripper), request).length;
}

/** Returns how to strip with a stripper alone. */
function silently(stripper: HeaderStripper): Stripping {
  if (typeof stripper?.stripRaw !== "function") throw wrongType("a HeaderStripper", stripper);
  return { stripper, isDryRun: false, isObserved: () => false, note() {} };
}

/**
 * Strips as {@link stripRequest}; changes nothing in a dry run. Returns the names removed, in lower case, one for
 * each field line.
 */
export function stripIncoming(
  { stripper, isDryRun, note }: Stripping,
  request: IncomingMessage,
): string[] {
  if (!Array.isArray(request?.rawHeaders)) throw wrongType("an IncomingMessage", request);
  const { rawHeaders } = request;
  const lines = rawHeaders.length > 0 ? rawHeaders : linesOf(request);
  const kept = stripper.stripRaw(lines);
  if (kept.length === lines.length) return [];
  const removed: string[] = [];
  let end = 0;
  for (let index = 0; index < lines.length; index += 2) {
    // A name is kept either always or never, except `TE`.
    if (lines[index] === kept[end]) end += 2;
    else removed.push(lines[index]!.toLowerCase());
  }
  note(removed);
  if (isDryRun) return removed;
  // Read `headers` first: Node creates it lazily from `rawHeaders`, and relies on its original length.
  const { headers } = request;
  if ("headersDistinct" in request) Object.defineProperty(request, "headersDistinct", LAZY);
  // Discard the value that was created after stripping by another stripper.
  (request as WithDistinct)[DISTINCT] = undefined;
  if (lines === rawHeaders) {
    for (let index = 0; index < end; index += 1) rawHeaders[index] = kept[index]!;
    rawHeaders.length = end;
  }
  // Platforms that emulate requests may keep the case of names.
  const isRemoved = membership(removed);
  const keys =
    lines === rawHeaders
      ? removed
      : Object.keys(headers).filter((key) => isRemoved(key.toLowerCase()));
  for (const key of keys) delete headers[key];
  // The lines of a nominated `TE` that accept trailers are kept.
  if (removed.includes("te") && kept.some(isTe)) headers.te = "trailers";
  if (isUpgrade(request) && removed.includes("connection")) {
    // `Upgrade` is invalid without it, and the server is handling an upgrade.
    rawHeaders.push("Connection", "Upgrade");
    headers.connection = "Upgrade";
  }
  return removed;
}

/** Returns the field lines of a request that has only `headers`, as serverless platforms emulate it. */
function linesOf({ headers }: IncomingMessage): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one) => [name, String(one)]),
  );
}

function isTe(text: string, index: number): boolean {
  return index % 2 === 0 && text.toLowerCase() === "te";
}

/** Returns whether a request comes from an `upgrade` event and still has its `Upgrade`. */
function isUpgrade(request: IncomingMessage & { upgrade?: boolean | null }): boolean {
  const { upgrade, method, headers } = request;
  return upgrade === true && method !== "CONNECT" && headers.upgrade !== undefined;
}

const DISTINCT = Symbol("hedgerow.headersDistinct");

type Distinct = Record<string, string[]>;
type WithDistinct = IncomingMessage & { [DISTINCT]?: Distinct | undefined };

/** Creates `headersDistinct` on first access, since it is rarely used. */
const LAZY: PropertyDescriptor & ThisType<WithDistinct> = {
  configurable: true,
  enumerable: true,
  get() {
    this[DISTINCT] ??= distinctFields(this.rawHeaders);
    return this[DISTINCT];
  },
  set(fields: Distinct) {
    this[DISTINCT] = fields;
  },
};

/**
 * Returns the values of each field by its name in lower case. Does not use Node's own implementation, in which
 * a field named `__proto__` polluted the prototype of all objects (CVE-2026-21710).
 */
function distinctFields(rawHeaders: readonly string[]): Distinct {
  const distinct: Distinct = Object.create(null);
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    distinct[name] ??= [];
    distinct[name].push(rawHeaders[index + 1]!);
  }
  return distinct;
}

/**
 * Makes a response strip its head when it is sent, however the fields were set: by `setHeader`, by `writeHead`
 * or by a framework. On HTTP/2 this includes heads sent by its `stream`, and pushes. Trailers and interim
 * responses (1xx) are not stripped.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` if an argument has the wrong type
 */
export function stripResponse(stripper: HeaderStripper, response: ServerResponse): void {
  stripOutgoing(silently(stripper), response);
}

/** Strips as {@link stripResponse}; changes nothing in a dry run. */
export function stripOutgoing(stripping: Stripping, response: ServerResponse): void {
  if (typeof response?.writeHead !== "function") throw wrongType("a ServerResponse", response);
  const { stripper, isDryRun } = stripping;
  const noting = sender(stripping.note);
  const writeHead = response.writeHead as (...args: unknown[]) => ServerResponse;
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    // The head was sent already: let Node handle the call.
    if (response.headersSent) return writeHead.call(response, status, ...rest);
    const stored = response.getHeaderNames();
    // There may be two objects of fields. Node and its wrappers disagree on which is sent: strip both.
    const given = rest.filter(isFields);
    const names = [...stored, ...given.flatMap((fields) => namesOf(fields))];
    const values = () => [
      ...stored.map((name) => response.getHeader(name)),
      ...given.flatMap((fields) => valuesOf(fields)),
    ];
    const matched = namesToStrip(stripper, names, values, true);
    if (matched.length === 0 || isDryRun) {
      return noting(matched, () => writeHead.call(response, status, ...rest));
    }
    const isMatched = membership(matched);
    for (const name of stored) if (isMatched(name)) response.removeHeader(name);
    const kept = rest.map((argument) =>
      isFields(argument) ? withoutNames(argument, matched) : argument,
    );
    return noting(matched, () => writeHead.call(response, status, ...kept));
  };
  // An older alias, which Node has up to version 26.
  if ("writeHeader" in response) response.writeHeader = response.writeHead;
  const { stream } = response as { stream?: ServerHttp2Stream };
  if (typeof stream?.respond === "function") stripStream(stripping, stream, noting);
}

/** Bytes outside ASCII in a request target: Node's HTTP/2 servers return each as a character. */
const BYTES = /[\x80-\xff]/g;

/** Returns a request target with its bytes outside ASCII percent-encoded, as clients should send them. */
export function encodedTarget(target: string): string {
  return target.replace(BYTES, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns whether Node reads an argument as fields: it reads the keys of objects and of functions. */
function isFields(
  argument: unknown,
): argument is readonly unknown[] | Readonly<Record<string, unknown>> {
  return typeof argument === "function" || (typeof argument === "object" && argument !== null);
}

/**
 * Refuses a request because of its `Connection`, and closes the connection. Only HTTP/1.1 has such requests.
 */
export function sendBadRequest(response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // Earlier middleware may have set these for another body.
  for (const name of ["content-encoding", "transfer-encoding"]) {
    if (response.hasHeader(name)) response.removeHeader(name);
  }
  // `connection: close` below is not enough if rules strip `Connection`.
  response.shouldKeepAlive = false;
  const text = "Bad Request\n";
  response.writeHead(400, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": text.length,
    connection: "close",
  });
  response.end(text);
}
