/**
 * A worker in front of an origin, as a platform deploys one: it strips headers, and refuses what a deployment
 * cannot have, by the filter that is in an object store. Under `/-/` the platform talks to it.
 */
// biome-ignore-start assist/source/organizeImports: what counts memories comes before what instantiates modules
import { memoryBytes } from "../../support/memories.js";
import { PathFilterStore } from "hedgerow";
import { hedgerow } from "hedgerow/workers";
// biome-ignore-end assist/source/organizeImports: as above

interface Env {
  readonly ORIGIN: string;
  readonly RULES: readonly string[];
  readonly FILTERS: { readonly maxBytes: number; readonly timeout: number };
}

/** Where the filter of a deployment is. */
export interface Deploy {
  readonly name: string;
  readonly filter: string;
}

/** What the worker tells of itself. */
export interface WorkerState {
  readonly memoryBytes: number;
  readonly filters: number;
  readonly filterBytes: number;
  /** How often requests passed without being checked, by why. */
  readonly unchecked: Readonly<Record<string, number>>;
}

const filterUrls = new Map<string, string>();
const unchecked: Record<string, number> = {};
let site: ReturnType<typeof makeSite> | undefined;

function makeSite({ ORIGIN, RULES, FILTERS }: Env) {
  const filters = new PathFilterStore({
    ...FILTERS,
    load: (deployment) => fetch(filterUrls.get(deployment) ?? "unknown deployment"),
  });
  const worker = hedgerow(
    {
      headers: RULES,
      paths: (path, request) =>
        filters.canExist(request.headers.get("x-deployment") ?? "none", path),
      onError: (error) => {
        const why = (error as { code?: string }).code ?? "other";
        unchecked[why] = (unchecked[why] ?? 0) + 1;
      },
    },
    { fetch: (request: Request) => fetch(toOrigin(request, ORIGIN), { redirect: "manual" }) },
  );
  return { filters, worker };
}

/** Set part by part: a path must not choose the host. */
function toOrigin(request: Request, origin: string): Request {
  const { pathname, search } = new URL(request.url);
  const target = new URL(origin);
  target.pathname = pathname;
  target.search = search;
  return new Request(target, request);
}

async function control(request: Request, filters: PathFilterStore): Promise<Response> {
  if (request.method === "PUT") {
    const { name, filter } = (await request.json()) as Deploy;
    filterUrls.set(name, filter);
    // What is deployed again under a name has another filter.
    filters.delete(name);
    return new Response();
  }
  const state: WorkerState = {
    memoryBytes: memoryBytes(),
    filters: filters.size,
    filterBytes: filters.bytes,
    unchecked,
  };
  return Response.json(state);
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    site ??= makeSite(env);
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/-/")) return control(request, site.filters);
    return site.worker.fetch(request);
  },
};
