import { HeaderStripper } from "hedgerow";

/** What the deployment configures. */
export interface Env {
  /** The origin, such as `https://origin.example`. */
  ORIGIN: string;
  /** Names and prefixes of internal headers, separated by white space. */
  INTERNAL_HEADERS: string;
}

let stripper: HeaderStripper | undefined;

/** Compiled once for each isolate. */
function internalHeaders(env: Env): HeaderStripper {
  stripper ??= new HeaderStripper(env.INTERNAL_HEADERS.split(/\s+/).filter(Boolean));
  return stripper;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const internal = internalHeaders(env);
    const { pathname, search } = new URL(request.url);

    // Set part by part: a path such as `//elsewhere.example/` must not choose the host.
    const target = new URL(env.ORIGIN);
    target.pathname = pathname;
    target.search = search;

    // A copy, because the headers of an incoming request cannot be changed.
    const inbound = new Request(target, request);
    internal.strip(inbound.headers);

    const answer = await fetch(inbound, { redirect: "manual" });
    const outbound = new Response(answer.body, answer);
    internal.strip(outbound.headers);
    return outbound;
  },
};
