/** The wrapper for Workers, with Node's implementation of Fetch. */
import { createServer } from "node:http";
import { HeaderStripper, PathSet, preset } from "hedgerow";
import { hedgerow as honoHedgerow } from "hedgerow/hono";
import { hedgerow, type WorkersOptions } from "hedgerow/workers";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { closed, listening } from "../../../../tests/support/http/listen.js";

const RULES = ["x-internal-*", "x-debug"];
const FORGED = { "X-Internal-User": "root", "x-DEBUG": "1", "x-kept": "1" };

/** Returns a request with a forged internal field. */
const forged = (path = "/", init: RequestInit = {}) =>
  new Request(`http://localhost${path}`, { headers: FORGED, ...init });

/** Responds with all forms in which a handler can read the fields. */
const shown = (request: Request) =>
  Response.json([
    [...request.headers],
    [...request.clone().headers],
    request.headers.get("X-Debug"),
  ]);

test("hedgerow/workers passes env and context on, and keeps the handler's this", async () => {
  const handler = {
    name: "handler",
    fetch(this: { name: string }, request: Request, env: string, context: object) {
      return Response.json([this.name, env, context, [...request.headers.keys()]]);
    },
    queue(this: { name: string }) {
      return this.name;
    },
  };
  const worker = hedgerow({ headers: RULES }, Object.freeze(handler));
  const response = await worker.fetch(forged(), "env", { waits: true });
  expect(await response.json()).toEqual(["handler", "env", { waits: true }, ["x-kept"]]);
  expect(worker.queue()).toBe("handler");
});

test("hedgerow/workers fetches the request without a handler", async () => {
  let arrived: string[] = [];
  const origin = createServer((request, response) => {
    arrived = request.rawHeaders;
    response.writeHead(200, { "x-debug": "1", "set-cookie": ["a=1", "b=2"], "x-kept": "1" });
    response.end(request.url);
  });
  const url = await listening(origin);
  const { fetch } = hedgerow({ headers: RULES });
  const response = await fetch(new Request(new URL("/a?b", url), { headers: FORGED }));
  expect(arrived).toContain("x-kept");
  expect(arrived.join()).not.toMatch(/internal|debug/i);
  // The response of fetch is immutable, so it was copied.
  expect([response.headers.get("x-debug"), response.headers.get("x-kept")]).toEqual([null, "1"]);
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(await response.text()).toBe("/a?b");
  await closed(origin);
});

test.each([
  [205, "Reset Content", 205, "Reset Content"],
  [200, "Caf\u00e9", 200, ""],
  [404, "\u00e6\u0088\u0090\u00e5\u008a\u009f", 404, ""],
  [599, "Fine", 599, "Fine"],
  [600, "Fine", 502, ""],
  [999, "Denied", 502, ""],
])(
  "hedgerow/workers strips a response of fetch with status %i and reason phrase %s",
  async (sent, reason, status, statusText) => {
    const origin = createServer((request, response) => {
      response.statusMessage = reason;
      const internal = request.url === "/clean" ? {} : { "x-debug": "1" };
      response.writeHead(sent, { ...internal, "set-cookie": ["a=1", "b=2"] });
      response.end("body");
    });
    const url = await listening(origin);
    const { fetch } = hedgerow({ headers: RULES });
    const { fetch: inHono } = new Hono().use(honoHedgerow({ headers: RULES })).get("/*", (c) => {
      return globalThis.fetch(c.req.raw);
    });
    for (const through of [fetch, inHono]) {
      const response = await through(new Request(url));
      expect([response.status, response.statusText]).toEqual([status, statusText]);
      expect([...response.headers.keys()].filter((name) => name.startsWith("x-"))).toEqual([]);
      expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect(await response.text()).toBe(sent === 205 ? "" : "body");
      // A response without internal fields is not copied.
      const clean = await through(new Request(new URL("/clean", url)));
      expect(clean.status).toBe(sent);
      await clean.text();
    }
    await closed(origin);
  },
);

test("hedgerow/workers passes Response.error() on", async () => {
  const error = Response.error();
  const { fetch } = hedgerow({ headers: RULES }, { fetch: (_request: Request) => error });
  expect(await fetch(forged())).toBe(error);
});

test("hedgerow/workers copies immutable requests with their bodies and signals", async () => {
  const aborts = new AbortController();
  const init = { method: "POST", body: "sent", signal: aborts.signal };
  const request = forged("/", init);
  const immutable = () => {
    throw new TypeError("immutable");
  };
  Object.defineProperty(request.headers, "delete", { value: immutable });
  let inbound: Request | undefined;
  const { fetch } = hedgerow(
    { headers: RULES },
    {
      fetch(given: Request) {
        inbound = given;
        return shown(given);
      },
    },
  );
  expect(await (await fetch(request)).text()).not.toMatch(/internal|debug/i);
  expect([inbound?.method, await inbound?.text()]).toEqual(["POST", "sent"]);
  aborts.abort();
  expect(inbound?.signal.aborted).toBe(true);
});

test("hedgerow/workers passes messages without internal fields on unchanged", async () => {
  const request = new Request("http://localhost/", { headers: { "x-kept": "1" } });
  const response = Response.redirect("http://localhost/elsewhere");
  const fetch = (given: Request) => {
    expect(given).toBe(request);
    return response;
  };
  expect(await hedgerow({ headers: RULES }, { fetch }).fetch(request)).toBe(response);
});

test("hedgerow/workers takes separate rules or strippers for requests and responses", async () => {
  const answer = (request: Request) =>
    new Response([...request.headers.keys()].join(), { headers: FORGED });
  const stripper = new HeaderStripper(RULES);
  for (const rules of [RULES, stripper, new Set(RULES)]) {
    const inbound = hedgerow({ headers: { requests: rules } }, { fetch: answer });
    const one = await inbound.fetch(forged());
    expect([await one.text(), one.headers.get("x-debug")]).toEqual(["x-kept", "1"]);
    const outbound = hedgerow({ headers: { responses: rules } }, { fetch: answer });
    const other = await outbound.fetch(forged());
    expect(other.headers.get("x-debug")).toBeNull();
    expect(await other.text()).toBe("x-debug,x-internal-user,x-kept");
  }
});

test("two wrappers of hedgerow/workers strip what either of them matches", async () => {
  const inner = hedgerow({ headers: ["x-debug"] }, { fetch: shown });
  const response = await hedgerow({ headers: ["x-internal-*"] }, inner).fetch(forged());
  expect(await response.text()).not.toMatch(/internal|debug/i);
});

test("hedgerow/workers strips the fields that Connection nominates", async () => {
  const answer = ({ headers }: Request) =>
    new Response([...headers.keys()].join(), {
      headers: { connection: "x-hop", "x-hop": "1", "x-end": "2" },
    });
  const { fetch } = hedgerow({ headers: preset("hop-by-hop") }, { fetch: answer });
  const headers = { connection: "close, X-Asked", "x-asked": "1", "x-kept": "1" };
  const response = await fetch(new Request("http://localhost/", { headers }));
  expect(await response.text()).toBe("x-kept");
  expect([response.headers.get("x-hop"), response.headers.get("x-end")]).toEqual([null, "2"]);
});

test("hedgerow/workers answers 400 if a request nominates fields that frame or route it", async () => {
  const { fetch } = hedgerow({ headers: preset("hop-by-hop") }, { fetch: shown });
  for (const name of ["content-length", "host", "x-forwarded-for"]) {
    const headers = { connection: `close, ${name}`, [name]: "1" };
    const response = await fetch(new Request("http://localhost/", { headers }));
    expect([response.status, await response.text()]).toEqual([400, "Bad Request\n"]);
  }
});

test("hedgerow/workers keeps the framing that a response nominates, and strips the rest", async () => {
  const answer = () =>
    new Response("all", {
      headers: { connection: "transfer-encoding", "transfer-encoding": "chunked", "x-debug": "1" },
    });
  const { fetch } = hedgerow({ headers: [...preset("hop-by-hop"), "x-debug"] }, { fetch: answer });
  const { headers } = await fetch(new Request("http://localhost/"));
  expect([...headers.keys()]).toEqual(["content-type", "transfer-encoding"]);
});

test("hedgerow/workers answers absent paths with notFound, and strips its response", async () => {
  const there = { fetch: (_request: Request) => new Response("there") };
  const notFound = async ({ url, headers }: Request) =>
    new Response(`${url} ${[...headers.keys()]}`, { status: 410, headers: FORGED });
  const sources: WorkersOptions["paths"][] = [new PathSet(["/a"]), async (path) => path === "/a"];
  for (const paths of sources) {
    const worker = hedgerow({ paths: paths!, headers: RULES, notFound }, there);
    expect(await (await worker.fetch(forged("/a?b"))).text()).toBe("there");
    const absent = await worker.fetch(forged("/b?/a"));
    expect([absent.status, absent.headers.get("x-debug")]).toEqual([410, null]);
    expect(await absent.text()).toBe("http://localhost/b?/a x-kept");
    expect((await worker.fetch(forged("/b", { method: "PUT" }))).status).toBe(200);
  }
});

test("hedgerow/workers lets a request pass if the check fails, and propagates errors of onError", async () => {
  const failure = new RangeError("no storage");
  const throwing = () => {
    throw failure;
  };
  for (const paths of [throwing, () => Promise.reject(failure)]) {
    const reported: unknown[] = [];
    const onError = (error: unknown, { url }: Request) => reported.push(error, url);
    const there = { fetch: (_request: Request) => new Response("there") };
    expect((await hedgerow({ paths, onError }, there).fetch(forged("/b"))).status).toBe(200);
    expect(reported).toEqual([failure, "http://localhost/b"]);
    const worker = hedgerow({ paths, onError: throwing }, there);
    await expect(worker.fetch(forged("/b"))).rejects.toBe(failure);
  }
});

test("hedgerow/workers propagates errors of the handler, synchronous or not", async () => {
  const failure = new RangeError("no storage");
  const throwing = (_request: Request) => {
    throw failure;
  };
  for (const fetch of [throwing, (_request: Request) => Promise.reject(failure)]) {
    await expect(hedgerow({ headers: RULES }, { fetch }).fetch(forged())).rejects.toBe(failure);
  }
});

test("hedgerow/workers binds the handler's other methods, which can be copied and replaced", async () => {
  class Handler {
    readonly #queued: unknown[] = [];
    fetch(): Response {
      return new Response(`${this.#queued.length}`);
    }
    queue(batch: unknown): void {
      this.#queued.push(batch);
    }
  }
  const worker = { ...hedgerow({ headers: RULES }, new Handler()) };
  worker.queue("a batch");
  expect(await (await worker.fetch(forged())).text()).toBe("1");
  const { fetch } = worker;
  worker.fetch = (request) => fetch(request);
  expect((await worker.fetch(forged())).status).toBe(200);
});
