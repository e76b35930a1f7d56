/** Strips the requests and responses of Node's HTTP servers, of `node:http` and `node:http2` alike. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

import { wrongType } from "../error.js";
import type { HeaderStripper } from "../headers/header-stripper.js";
import { doomedNames, namesOf, valueAt, withoutNames } from "./fields.js";
import { stripStream } from "./http2-stream.js";

/**
 * Strips a request in place: `headers`, `headersDistinct` and `rawHeaders`. Trailers stay. Where rules
 * match `Connection`, an upgrade keeps `Upgrade` and gets `Connection: Upgrade`.
 *
 * @returns how many field lines went
 * @throws {HedgerowError} `ERR_CONNECTION_OPTION` if `Connection` nominates a field for all recipients.
 * The request is then as it was: answer 400, or destroy its socket. `ERR_ARGUMENT` for an argument of the
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
  return stripIncoming(stripper, request).length;
}

/** Does what {@link stripRequest} does. Returns the names that went, in lower case, one for each line. */
export function stripIncoming(stripper: HeaderStripper, request: IncomingMessage): string[] {
  if (typeof stripper?.stripRaw !== "function") throw wrongType("a HeaderStripper", stripper);
  if (!Array.isArray(request?.rawHeaders)) throw wrongType("an IncomingMessage", request);
  const { rawHeaders } = request;
  const kept = stripper.stripRaw(rawHeaders);
  if (kept.length === rawHeaders.length) return [];
  // Node makes these of `rawHeaders` when they are first asked for, and counts on its length.
  const { headers } = request;
  if ("headersDistinct" in request) Object.defineProperty(request, "headersDistinct", LAZY);
  // What was made of them after they were stripped by other rules.
  (request as WithDistinct)[DISTINCT] = undefined;
  const gone: string[] = [];
  let end = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    // No name stays here and goes there, but for `TE`, whose values are copied as well.
    if (name === kept[end]) {
      rawHeaders[end] = name;
      rawHeaders[end + 1] = kept[end + 1]!;
      end += 2;
    } else {
      gone.push(name.toLowerCase());
    }
  }
  rawHeaders.length = end;
  for (const name of gone) delete headers[name];
  // Of `TE` that is nominated, the lines that accept trailers stay.
  if (gone.includes("te") && rawHeaders.some(isTe)) headers.te = "trailers";
  if (isUpgrade(request) && gone.includes("connection")) {
    // Without it `Upgrade` means nothing, and the server was asked to upgrade.
    rawHeaders.push("Connection", "Upgrade");
    headers.connection = "Upgrade";
  }
  return gone;
}

function isTe(text: string, index: number): boolean {
  return index % 2 === 0 && text.toLowerCase() === "te";
}

/** Whether this is the request of an `upgrade` event, and still has its `Upgrade`. */
function isUpgrade(request: IncomingMessage & { upgrade?: boolean | null }): boolean {
  const { upgrade, method, headers } = request;
  return upgrade === true && method !== "CONNECT" && headers.upgrade !== undefined;
}

const DISTINCT = Symbol("hedgerow.headersDistinct");

type Distinct = Record<string, string[]>;
type WithDistinct = IncomingMessage & { [DISTINCT]?: Distinct | undefined };

/** Makes `headersDistinct` when it is first asked for, which it hardly ever is. */
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
 * The values of each field, by its name in lower case. Node is not asked for them: until it was mended
 * (CVE-2026-21710), a field called `__proto__` got into the prototype of all objects there.
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
 * Makes a response strip what it is about to send, whoever set it and how: `setHeader`, `writeHead`, a
 * framework; on HTTP/2 also what its `stream` sends, and what it pushes. Trailers and interim responses
 * (1xx) stay as they are.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` for an argument of the wrong type
 */
export function stripResponse(stripper: HeaderStripper, response: ServerResponse): void {
  if (typeof stripper?.stripRaw !== "function") throw wrongType("a HeaderStripper", stripper);
  if (typeof response?.writeHead !== "function") throw wrongType("a ServerResponse", response);
  const writeHead = response.writeHead as (...args: unknown[]) => ServerResponse;
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    // Nothing more is sent of such a head; Node says what becomes of it.
    if (response.headersSent) return writeHead.call(response, status, ...rest);
    const stored = response.getHeaderNames();
    // There may be two, of which one is sent: Node and what wraps it do not agree on which.
    const given = rest.filter(isFields);
    const doomedOf = (fields: Parameters<typeof namesOf>[0]) => {
      const at = (index: number) => {
        const name = stored[index];
        return name === undefined
          ? valueAt(fields, index - stored.length)
          : response.getHeader(name);
      };
      return doomedNames(stripper, [...stored, ...namesOf(fields)], at, true);
    };
    const doomed = given.length > 1 ? given.flatMap(doomedOf) : doomedOf(given[0] ?? []);
    if (doomed.length === 0) return writeHead.call(response, status, ...rest);
    for (const name of stored) if (doomed.includes(name)) response.removeHeader(name);
    const kept = rest.map((argument) =>
      isFields(argument) ? withoutNames(argument, doomed) : argument,
    );
    return writeHead.call(response, status, ...kept);
  };
  // The older name, which Node has until 26.
  if ("writeHeader" in response) response.writeHeader = response.writeHead;
  const { stream } = response as { stream?: ServerHttp2Stream };
  if (typeof stream?.respond === "function") stripStream(stripper, stream);
}

/** Whether an argument is one that Node takes for fields: it looks for keys, of functions too. */
function isFields(
  argument: unknown,
): argument is readonly unknown[] | Readonly<Record<string, unknown>> {
  return typeof argument === "function" || (typeof argument === "object" && argument !== null);
}
