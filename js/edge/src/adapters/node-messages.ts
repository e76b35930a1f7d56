/** Strips the requests and responses of Node's HTTP servers, of `node:http` and `node:http2` alike. */
import type { IncomingMessage, ServerResponse } from "node:http";

import { wrongType } from "../error.js";
import type { HeaderStripper } from "../headers/header-stripper.js";
import { doomedNames, namesOf, valueAt, withoutNames } from "./fields.js";

/**
 * Strips a request in place: `headers`, `headersDistinct` and `rawHeaders`. Trailers stay.
 *
 * @returns how many field lines went
 * @throws {HedgerowError} `ERR_ARGUMENT` for an argument of the wrong type
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { HeaderStripper } from "hedgerow";
 * import { stripRequest } from "hedgerow/connect";
 *
 * const internal = new HeaderStripper(["x-internal-*"]);
 * createServer().on("upgrade", (request) => stripRequest(internal, request));
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
    // No name stays here and goes there.
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
  return gone;
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
 * framework. Trailers and interim responses (1xx) stay as they are.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` for an argument of the wrong type
 */
export function stripResponse(stripper: HeaderStripper, response: ServerResponse): void {
  if (typeof stripper?.stripRaw !== "function") throw wrongType("a HeaderStripper", stripper);
  if (typeof response?.writeHead !== "function") throw wrongType("a ServerResponse", response);
  const writeHead = response.writeHead as (...args: unknown[]) => ServerResponse;
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    // The fields come second or third; others were set one by one.
    const at = rest.findIndex((argument) => typeof argument === "object" && argument !== null);
    const given = at < 0 ? [] : (rest[at] as readonly unknown[] | Record<string, unknown>);
    const stored = response.getHeaderNames();
    const doomed = doomedNames(stripper, [...stored, ...namesOf(given)], (index) => {
      const name = stored[index];
      return name === undefined ? valueAt(given, index - stored.length) : response.getHeader(name);
    });
    if (doomed.length > 0) {
      for (const name of stored) if (doomed.includes(name)) response.removeHeader(name);
      if (at >= 0) rest[at] = withoutNames(given, doomed);
    }
    return writeHead.call(response, status, ...rest);
  };
}
