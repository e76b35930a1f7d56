/** `hedgerow/next`: a proxy for Next.js, for `proxy.ts` or the older `middleware.ts`. */
import { type NextFetchEvent, NextRequest, NextResponse } from "next/server.js";

import { HedgerowError } from "../error.js";
import { answerNotFound } from "../paths/guard-paths.js";
import { type AdapterOptions, readOptions, type Stripping } from "./adapter.js";
import { badRequest, strip, strippedResponse } from "./fetch-messages.js";

export * from "../entries/requests.js";
export type { AdapterReport, HeaderRules, RefusalReport, StripReport } from "./adapter.js";

/** Options of the proxy. */
export interface NextOptions extends AdapterOptions<NextRequest> {
  /** Answers a request whose path does not exist. Default: 404 with the text `Not Found`. */
  notFound?: (request: NextRequest) => Response | Promise<Response>;
}

/** The application's own proxy function. It receives stripped requests whose path may exist. */
export type NextProxy = (
  request: NextRequest,
  event: NextFetchEvent,
) => Response | null | undefined | Promise<Response | null | undefined>;

/** The instruction that lists the names of all fields of the request. Each value is in a separate field. */
const OVERRIDE = "x-middleware-override-headers";

/** Fields by which a proxy instructs Next.js. */
const INSTRUCTION =
  /^x-middleware-(?:next|rewrite|redirect|refresh|set-cookie|override-headers|request-.+)$/;

/**
 * Internal fields that Next.js sets before a proxy runs, after dropping forged ones. Client navigation fails
 * without them.
 */
const INTERNAL = ["x-nextjs-data", "x-nextjs-html-request-id", "x-nextjs-request-id"];

/**
 * Creates a proxy that strips `headers` and answers requests whose path does not exist with 404.
 *
 * Requests are stripped before pages and routes see them. Next.js does not pass the responses of pages and
 * routes through a proxy: only the responses of `proxy`, and the fields it adds to others, are stripped.
 *
 * @param proxy the application's own proxy. Default: all requests continue
 * @throws {HedgerowError} `ERR_OPTIONS` if an option is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as the constructor of `HeaderStripper`
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
  const { responses, passes, isDryRun, refusalOf } = readOptions("hedgerow/next", options, [
    "notFound",
  ]);
  const { notFound = answerNotFound } = options;
  if (typeof proxy !== "function") {
    const message = `hedgerow/next: expected a function as proxy, found ${typeof proxy}`;
    throw new HedgerowError("ERR_OPTIONS", message);
  }

  return async function hedgerow(request, event) {
    const internal = INTERNAL.map((name) => [name, request.headers.get(name)] as const);
    let inbound = request;
    let removed = 0;
    const refusal = refusalOf(request, (requests) => {
      const stripping = noting(requests, (name) => !INTERNAL.includes(name));
      [inbound, removed] = strip(stripping, request, (original) => new NextRequest(original));
    });
    const isBad = refusal !== undefined;
    if (isBad && !isDryRun) return badRequest();
    if (removed > 0 && !inbound.headers.has("cookie")) clearCookies(inbound);
    const exists = isBad || (passes?.(inbound.method, requestedUrl(inbound), inbound) ?? true);
    let response: Response;
    // Fields that the adapter itself adds are not reported.
    let isOwn = (_name: string) => true;
    if (exists === true || (await exists)) {
      response = (await proxy(inbound, event)) ?? NextResponse.next();
      if (removed > 0) {
        const own = new Set(response.headers.keys());
        isOwn = (name) => own.has(name);
        forwardHeaders(inbound, response);
        restoreInternal(internal, inbound, response);
        // Next.js ignores an empty list, and would continue with all fields. A listed field without a value is removed.
        if (response.headers.get(OVERRIDE) === "") response.headers.set(OVERRIDE, "host");
      }
    } else {
      response = await notFound(inbound);
    }
    if (responses === undefined) return response;
    return strippedNextResponse(noting(responses, isOwn), response);
  };
}

/**
 * Returns the URL that the client requested. On a site with a base path and locales, Next.js hands `/fr/base/fr/about`
 * to a proxy for `/base/fr/about`, so that it finds the locale.
 */
function requestedUrl({ url, nextUrl }: NextRequest): string {
  if (nextUrl.basePath !== "" || nextUrl.locale === "") return url;
  const withoutLocale = nextUrl.clone();
  // Parsing it applies the configuration of the site, which is not public.
  withoutLocale.href = nextUrl.origin + nextUrl.pathname + nextUrl.search;
  return withoutLocale.basePath === "" ? url : withoutLocale.href;
}

/** Clears the cookies of a request whose `Cookie` was stripped, since `NextRequest` parses them early. */
function clearCookies({ cookies, headers }: NextRequest): void {
  cookies.clear();
  // `clear` leaves an empty `Cookie`.
  headers.delete("cookie");
}

/** Makes Next.js continue with the fields of `request`, unless the response overrides or ends the request. */
function forwardHeaders(request: NextRequest, { headers }: Response): void {
  const continues = headers.has("x-middleware-next") || headers.has("x-middleware-rewrite");
  if (!continues || headers.has(OVERRIDE)) return;
  const next = NextResponse.next({ request: { headers: request.headers } });
  for (const [name, value] of next.headers) {
    if (name !== "x-middleware-next") headers.set(name, value);
  }
}

/** Restores the internal fields of Next.js, which were stripped before `proxy` ran. */
function restoreInternal(
  internal: (readonly [name: string, value: string | null])[],
  request: NextRequest,
  { headers }: Response,
): void {
  if (!headers.has(OVERRIDE)) return;
  for (const [name, value] of internal) {
    if (value === null || request.headers.has(name)) continue;
    headers.append(OVERRIDE, name);
    headers.set(`x-middleware-request-${name}`, value);
  }
}

/** Strips a response, keeping its instructions: only a `NextResponse` has any. */
function strippedNextResponse(stripping: Stripping, response: Response): Response {
  if (!(response instanceof NextResponse)) return strippedResponse(stripping, response);
  const instructions = [...response.headers].filter(([name]) => INSTRUCTION.test(name));
  const withoutThem = noting(stripping, (name) => !INSTRUCTION.test(name));
  const stripped = strippedResponse(withoutThem, response);
  if (stripping.isDryRun) return stripped;
  for (const [name, value] of instructions) stripped.headers.set(name, value);
  return stripped;
}

/** Returns a stripping that notes only names that stay stripped. */
function noting(stripping: Stripping, isNoted: (name: string) => boolean): Stripping {
  return { ...stripping, note: (names) => stripping.note(names.filter(isNoted)) };
}
