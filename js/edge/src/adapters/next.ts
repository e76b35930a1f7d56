/** A proxy for Next.js, in `proxy.ts` or in the older `middleware.ts`: `hedgerow/next`. */
import { type NextFetchEvent, NextRequest, NextResponse } from "next/server.js";

import "../entries/instance.js";
import { HedgerowError } from "../error.js";
import type { HeaderStripper } from "../headers/header-stripper.js";
import { answerNotFound } from "../paths/guard-paths.js";
import { type AdapterOptions, readOptions } from "./adapter.js";
import { strip, strippedResponse } from "./messages.js";
import { badRequest, isRefused } from "./refusal.js";

export * from "../entries/requests.js";
export type { HeaderRules } from "./adapter.js";

/** What the proxy is made with. */
export interface NextOptions extends AdapterOptions<NextRequest> {
  /** The answer to a request for what does not exist (default: 404 with a line of text). */
  notFound?: (request: NextRequest) => Response | Promise<Response>;
}

/** A proxy of one's own, which gets requests that were stripped and guarded. */
export type NextProxy = (
  request: NextRequest,
  event: NextFetchEvent,
) => Response | null | undefined | Promise<Response | null | undefined>;

/** The fields by which a proxy tells Next.js what to do. */
const INSTRUCTION =
  /^x-middleware-(?:next|rewrite|redirect|refresh|set-cookie|override-headers|request-.+)$/;

/**
 * The fields by which Next.js tells itself what a request is for. It sets them before a proxy runs, and
 * drops those that a client forged. Client navigation fails without them.
 */
const OWN = ["x-nextjs-data", "x-nextjs-html-request-id", "x-nextjs-request-id"];

/**
 * Strips `headers` from requests before pages and routes see them; answers 404 where `paths` say that
 * nothing exists.
 *
 * Next.js shows a proxy no responses but its own: `headers` are stripped from what `proxy` answers, and
 * from what it adds to the answers of others, not from what pages and routes set.
 *
 * @param proxy (default: one that lets every request go on)
 * @throws {HedgerowError} `ERR_OPTIONS` for an option that is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as `HeaderStripper` throws them
 *
 * @example
 * ```ts
 * // proxy.ts
 * import { hedgerow } from "hedgerow/next";
 *
 * export const proxy = hedgerow({ headers: ["x-internal-*"] });
 * ```
 */
export function hedgerow(
  options: NextOptions,
  proxy: NextProxy = () => undefined,
): (request: NextRequest, event: NextFetchEvent) => Promise<Response> {
  const { requests, responses, passes } = readOptions("hedgerow/next", options, ["notFound"]);
  const { notFound = answerNotFound } = options;
  if (typeof proxy !== "function") {
    const message = `hedgerow/next: expected a function as proxy, found ${typeof proxy}`;
    throw new HedgerowError("ERR_OPTIONS", message);
  }

  return async function hedgerow(request, event) {
    const own = OWN.map((name) => [name, request.headers.get(name)] as const);
    let [inbound, gone] = [request, 0];
    const stripInbound = () => {
      if (requests === undefined) return;
      [inbound, gone] = strip(requests, request, (original) => new NextRequest(original));
    };
    if (isRefused(stripInbound)) return badRequest();
    if (gone > 0 && !inbound.headers.has("cookie")) forgetCookies(inbound);
    const exists = passes?.(inbound.method, inbound.url, inbound) ?? true;
    let response: Response;
    if (exists === true || (await exists)) {
      response = (await proxy(inbound, event)) ?? NextResponse.next();
      if (gone > 0) {
        passOn(inbound, response);
        giveBack(own, inbound, response);
      }
    } else {
      response = await notFound(inbound);
    }
    return responses === undefined ? response : strippedAnswer(responses, response);
  };
}

/** Takes the cookies from a request whose `Cookie` was stripped: they were read from it before. */
function forgetCookies({ cookies, headers }: NextRequest): void {
  cookies.clear();
  // Else there is one without any.
  headers.delete("cookie");
}

/** Makes Next.js go on with the fields of `request`, if it goes on and was not told of others. */
function passOn(request: NextRequest, { headers }: Response): void {
  const goesOn = headers.has("x-middleware-next") || headers.has("x-middleware-rewrite");
  if (!goesOn || headers.has("x-middleware-override-headers")) return;
  const next = NextResponse.next({ request: { headers: request.headers } });
  for (const [name, value] of next.headers) {
    if (name !== "x-middleware-next") headers.set(name, value);
  }
}

/** Gives Next.js its own fields back, which `proxy` did not see. */
function giveBack(
  own: (readonly [name: string, value: string | null])[],
  request: NextRequest,
  { headers }: Response,
): void {
  if (!headers.has("x-middleware-override-headers")) return;
  for (const [name, value] of own) {
    if (value === null || request.headers.has(name)) continue;
    headers.append("x-middleware-override-headers", name);
    headers.set(`x-middleware-request-${name}`, value);
  }
}

/** Strips an answer of all but its instructions, which only answers made to give them have. */
function strippedAnswer(stripper: HeaderStripper, response: Response): Response {
  if (!(response instanceof NextResponse)) return strippedResponse(stripper, response);
  const instructions = [...response.headers].filter(([name]) => INSTRUCTION.test(name));
  const stripped = strippedResponse(stripper, response);
  for (const [name, value] of instructions) stripped.headers.set(name, value);
  return stripped;
}
