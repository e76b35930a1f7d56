import { env } from "cloudflare:workers";
import { PathSet } from "hedgerow";
import { hedgerow } from "hedgerow/workers";

// Compiled once for each isolate. What `fetch` gets and answers is stripped and guarded.
export default hedgerow(
  { headers: env.INTERNAL_HEADERS, paths: new PathSet(env.PATHS) },
  {
    async fetch(request: Request): Promise<Response> {
      // Set part by part: a path such as `//elsewhere.example/` must not choose the host.
      const { pathname, search } = new URL(request.url);
      const target = new URL(env.ORIGIN);
      target.pathname = pathname;
      target.search = search;
      return fetch(new Request(target, request), { redirect: "manual" });
    },
  },
);
