import { guardPaths, PathFilterStore, type PathGuard } from "hedgerow";

/** The bindings of the worker. */
export interface Env {
  /** The origin, such as `https://origin.example`. */
  ORIGIN: string;
}

/** Path of the filter in each deployment. */
const FILTER = "/_hedgerow/paths.filter";

let guard: PathGuard | undefined;

/** Returns the guard, created once per isolate. The first request to a deployment loads its filter. */
function guardOf({ ORIGIN }: Env): PathGuard {
  if (guard !== undefined) return guard;
  const filters = new PathFilterStore({
    maxBytes: 32 * 2 ** 20,
    load: (deployment) => fetch(new URL(`${FILTER}?deployment=${deployment}`, ORIGIN)),
  });
  guard = guardPaths({
    paths: (path, request) => filters.canExist(deploymentOf(request), path),
  });
  return guard;
}

/** Returns the deployment of a request: here, each host name is one. */
function deploymentOf(request: Request): string {
  return encodeURIComponent(new URL(request.url).hostname);
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const rejected = await guardOf(env)(request);
    if (rejected !== undefined) return rejected;

    // Set the parts separately: a path such as `//elsewhere.example/` must not change the host.
    const { pathname, search } = new URL(request.url);
    const target = new URL(env.ORIGIN);
    target.pathname = pathname;
    target.search = search;
    return fetch(new Request(target, request), { redirect: "manual" });
  },
};
