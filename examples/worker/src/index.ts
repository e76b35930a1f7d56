import { env } from "cloudflare:workers";
import { PathSet } from "hedgerow";
import { hedgerow } from "hedgerow/workers";

// Created once per isolate. `fetch` receives stripped requests, and its responses are stripped.
export default hedgerow(
  { headers: env.INTERNAL_HEADERS, paths: new PathSet(env.PATHS) },
  {
    async fetch(request: Request): Promise<Response> {
      // Set the parts separately: a path such as `//elsewhere.example/` must not change the host.
      const { pathname, search } = new URL(request.url);
      const target = new URL(env.ORIGIN);
      target.pathname = pathname;
      target.search = search;
      return fetch(new Request(target, request), { redirect: "manual" });
    },
  },
);
