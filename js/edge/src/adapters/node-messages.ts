/** Strips the requests and responses of Node's HTTP servers, of `node:http` and `node:http2` alike. */
import type { IncomingMessage, ServerResponse } from "node:http";

import type { HeaderStripper } from "../headers/header-stripper.js";
import { type Fields, keptNames, strippedFields } from "./fields.js";

/**
 * Strips a request in place: `headers`, `headersDistinct` and `rawHeaders`. Trailers stay.
 *
 * @returns how many field lines went
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
  const { rawHeaders } = request;
  const kept = stripper.stripRaw(rawHeaders);
  const gone = rawHeaders.length - kept.length;
  if (gone === 0) return 0;
  const names = new Set<string>();
  for (let index = 0; index < kept.length; index += 2) names.add(kept[index]!.toLowerCase());
  // Node makes these of `rawHeaders` when they are first asked for, and counts on its length.
  for (const fields of [request.headers, request.headersDistinct]) {
    for (const name of Object.keys(fields ?? {})) {
      if (!names.has(name)) delete fields[name];
    }
  }
  rawHeaders.splice(0, rawHeaders.length, ...kept);
  return gone / 2;
}

/**
 * Makes a response strip what it is about to send, whoever set it and how: `setHeader`, `writeHead`, a
 * framework. Trailers and interim responses (1xx) stay as they are.
 */
export function stripResponse(stripper: HeaderStripper, response: ServerResponse): void {
  const writeHead = response.writeHead as (...args: unknown[]) => ServerResponse;
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    stripStored(stripper, response);
    const last = rest.length - 1;
    const fields = rest[last];
    if (typeof fields === "object" && fields !== null) {
      rest[last] = strippedFields(stripper, fields as Fields);
    }
    return writeHead.call(response, status, ...rest);
  };
}

/** Removes the fields that were set one by one. */
function stripStored(stripper: HeaderStripper, response: ServerResponse): void {
  const names = response.getHeaderNames();
  if (!names.some((name) => stripper.matches(name))) return;
  const kept = keptNames(
    stripper,
    names.map((name) => [name, response.getHeader(name)]),
  );
  for (const name of names) if (!kept.has(name)) response.removeHeader(name);
}
