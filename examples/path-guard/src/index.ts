import { guardPaths, PathFilterStore, type PathGuard } from "hedgerow";

/** What the deployment configures. */
export interface Env {
  /** The origin, such as `https://origin.example`. */
  ORIGIN: string;
}

/** Where the build step put the filter of a deployment. */
const FILTER = "/_hedgerow/paths.filter";

let guard: PathGuard | undefined;

/** Made once for each isolate; the filter is loaded by the first request. */
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

/** Which deployment a request is for: here, one for each host name. */
function deploymentOf(request: Request): string {
  return encodeURIComponent(new URL(request.url).hostname);
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const refused = await guardOf(env)(request);
    if (refused !== undefined) return refused;

    // Set part by part: a path such as `//elsewhere.example/` must not choose the host.
    const { pathname, search } = new URL(request.url);
    const target = new URL(env.ORIGIN);
    target.pathname = pathname;
    target.search = search;
    return fetch(new Request(target, request), { redirect: "manual" });
  },
};
