/**
 * A worker in front of an origin, as a platform deploys one. It strips headers, and rejects absent paths by a filter
 * from an object store. The platform controls it under `/-/`.
 */
// biome-ignore-start assist/source/organizeImports: the memory counter has to load before any module is instantiated
import { memoryBytes } from "../../support/memories.js";
import { PathFilterStore } from "hedgerow";
import { hedgerow } from "hedgerow/workers";
// biome-ignore-end assist/source/organizeImports: as above

interface Env {
  readonly ORIGIN: string;
  readonly RULES: readonly string[];
  readonly FILTERS: { readonly maxBytes: number; readonly timeout: number };
}

/** The URL of the filter of a deployment. */
export interface Deploy {
  readonly name: string;
  readonly filter: string;
}

/** The state that the worker reports. */
export interface WorkerState {
  readonly memoryBytes: number;
  readonly filters: number;
  readonly filterBytes: number;
  /** Requests that passed unchecked, by the code of the error. */
  readonly unchecked: Readonly<Record<string, number>>;
}

const filterUrls = new Map<string, string>();
const unchecked: Record<string, number> = {};
let site: ReturnType<typeof makeSite> | undefined;

function makeSite({ ORIGIN, RULES, FILTERS }: Env) {
  const filters = new PathFilterStore({
    ...FILTERS,
    // A filter that is missing is uploaded a moment later.
    missingFor: 0,
    load: (deployment) => fetch(filterUrls.get(deployment) ?? "unknown deployment"),
  });
  const worker = hedgerow(
    {
      headers: RULES,
      paths: (path, request) =>
        filters.canExist(request.headers.get("x-deployment") ?? "none", path),
      onError: (error) => {
        const code = (error as { code?: string }).code ?? "other";
        unchecked[code] = (unchecked[code] ?? 0) + 1;
      },
    },
    { fetch: (request: Request) => fetch(toOrigin(request, ORIGIN), { redirect: "manual" }) },
  );
  return { filters, worker };
}

/** Sets the parts of the URL separately, to keep a path from choosing the host. */
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
    // A name that is deployed again has another filter.
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
