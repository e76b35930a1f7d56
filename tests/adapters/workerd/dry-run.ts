/** A worker and a Hono app in front of an origin. Each runs in all modes, which the path names. */
import { hedgerow as forHono } from "hedgerow/hono";
import { type AdapterReport, hedgerow as forWorkers } from "hedgerow/workers";
import { Hono } from "hono";
import { exists } from "../../support/http/paths.js";

interface Env {
  ADAPTER: "workers" | "hono";
  HEADERS: { requests: string[]; responses: string[] };
}

type Handler = (request: Request) => Response | Promise<Response>;

const reports: Record<string, AdapterReport[]> = { dry: [], enforcing: [] };
let handlers: Record<string, Handler> | undefined;

function handlerOf({ ADAPTER, HEADERS }: Env, mode: string): Handler {
  const options = {
    headers: HEADERS,
    paths: exists,
    dryRun: mode === "dry",
    report: (report: AdapterReport) => void reports[mode]!.push(report),
  };
  if (ADAPTER === "workers") {
    const bare = { fetch: (request: Request) => fetch(request) };
    const worker = mode === "bare" ? bare : forWorkers(options);
    return (request) => worker.fetch(request);
  }
  const app = new Hono();
  if (mode !== "bare") app.use(forHono(options));
  app.all("/*", (c) => fetch(c.req.raw));
  return (request) => app.fetch(request);
}

export default {
  fetch(request: Request, env: Env): Response | Promise<Response> {
    const [, mode = "", action] = new URL(request.url).pathname.split("/");
    if (action === "reports") return Response.json(reports[mode]!.splice(0));
    handlers ??= {
      bare: handlerOf(env, "bare"),
      dry: handlerOf(env, "dry"),
      enforcing: handlerOf(env, "enforcing"),
    };
    return handlers[mode]!(request);
  },
};
