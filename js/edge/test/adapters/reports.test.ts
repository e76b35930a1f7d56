/** Dry runs, reports and trusted requests, behind every adapter. */
import { once } from "node:events";
import { createServer as createHttp2, connect as http2Connect } from "node:http2";
import { text } from "node:stream/consumers";
import { HeaderStripper, PathSet } from "hedgerow";
import { type AdapterReport, hedgerow as forConnect } from "hedgerow/connect";
import { hedgerow as forHono } from "hedgerow/hono";
import { hedgerow as forUndici } from "hedgerow/undici";
import { hedgerow as forWorkers } from "hedgerow/workers";
import { Hono } from "hono";
import { Agent, request } from "undici";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ask, sendRaw } from "../../../../tests/support/http/client.js";
import { closed, listening, serve } from "../../../../tests/support/http/listen.js";
import { BELOW, type Handler, type Options, serverNames, start } from "./servers.js";

const RULES = ["x-internal-*", "x-debug"];

/** Responds with the received names and values, and with internal fields set in three ways. */
const echo: Handler = ({ rawHeaders }, response) => {
  response.setHeader("X-Internal-Node", ["a", "b"]);
  response.setHeader("x-debug", "1");
  response.writeHead(200, { "x-internal-zone": "eu", "x-kept": "1" });
  response.end(rawHeaders.join());
};

/** The same as a handler of Fetch. */
const fetchEcho = (request: Request) => {
  const headers = { "X-Internal-Node": "a", "x-debug": "1", "x-kept": "1" };
  return new Response([...request.headers].flat().join(), { headers });
};

/** The application behind an adapter of Fetch. */
const FETCH: Record<string, (options: Options) => (request: Request) => Promise<Response>> = {
  "hedgerow/workers": (options) =>
    forWorkers(options as never, { fetch: fetchEcho as never }).fetch,
  "hedgerow/hono": (options) => {
    const app = new Hono();
    app.use(forHono(options as never));
    app.all("/*", (c) => fetchEcho(c.req.raw));
    return async (request) => app.fetch(request);
  },
};

const FORGED = ["X-Internal-User", "root", "x-INTERNAL-user", "2", "X-Debug", "1", "x-kept", "1"];
const forged = (path = "/a") =>
  new Request(`http://localhost${path}`, {
    headers: { "X-Internal-User": "root", "x-debug": "1" },
  });

/** Returns options that collect reports. */
function collecting(options: Options): { options: Options; reports: AdapterReport[] } {
  const reports: AdapterReport[] = [];
  return { reports, options: { ...options, report: (report) => void reports.push(report) } };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(serverNames)("an adapter on Node (%s)", (name) => {
  test.each([true, false])("reports each kind once for a message (dry run: %s)", async (dryRun) => {
    const { options, reports } = collecting({
      ...{ headers: RULES, dryRun },
      paths: new PathSet(["/a", `${BELOW}/a`]),
    });
    await using started = await start(name, options, echo);
    const { status, headers, body } = await ask(started.url, { path: "/a", headers: FORGED });
    expect([status, `${body}`.includes("root")]).toEqual([200, dryRun]);
    expect(headers["x-internal-node"]).toBe(dryRun ? "a, b" : undefined);
    const names = ["x-internal-user", "x-debug"];
    expect(reports).toEqual([
      { kind: "strip", direction: "requests", names, count: 3 },
      {
        ...{ kind: "strip", direction: "responses" },
        ...{ names: ["x-internal-node", "x-debug", "x-internal-zone"], count: 3 },
      },
    ]);
    expect((await ask(started.url, { path: "/b?token=1" })).status).toBe(dryRun ? 200 : 404);
    const path = `${name.includes("below") ? BELOW : ""}/b`;
    expect(reports[2]).toEqual({ kind: "refuse", direction: "requests", path, count: 1 });
    expect(reports.slice(3).map(({ direction }) => direction)).toEqual(dryRun ? ["responses"] : []);
  });

  test.each([true, false])(
    "reports a Connection that nominates a field for all recipients once (dry run: %s)",
    async (dryRun) => {
      const headers = { requests: ["connection", "x-debug"] };
      const asked: string[] = [];
      const { options, reports } = collecting({
        ...{ headers, dryRun },
        paths: (path: string) => {
          asked.push(path);
          return false;
        },
      });
      await using started = await start(name, options, echo);
      const answer = await sendRaw(
        started.url,
        "GET /b HTTP/1.1\r\nHost: a\r\nConnection: close, host\r\nX-Debug: 1\r\n\r\n",
      );
      expect(answer).toMatch(dryRun ? /^HTTP\/1.1 200 / : /^HTTP\/1.1 400 /);
      expect(answer.includes("X-Debug,1")).toBe(dryRun);
      const names = ["connection"];
      expect(reports).toEqual([{ kind: "refuse", direction: "requests", names, count: 1 }]);
      // Enforcement does not look up the path of a bad request.
      expect(asked).toEqual([]);
    },
  );

  test("answers as without a report if report throws or is rejected", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const failure = new RangeError("no log");
    const reports = [
      () => {
        throw failure;
      },
      async () => {
        throw failure;
      },
    ];
    for (const report of reports) {
      for (const dryRun of [true, false]) {
        await using started = await start(name, { headers: RULES, dryRun, report }, echo);
        const { status, body } = await ask(started.url, { headers: FORGED });
        expect([status, `${body}`.includes("root")]).toEqual([200, dryRun]);
      }
    }
    expect(log.mock.calls).toHaveLength(8);
    for (const call of log.mock.calls) expect(call).toEqual(["hedgerow: report failed:", failure]);
  });

  test("leaves the fields of trusted requests alone, but not their path and response", async () => {
    const seen: unknown[] = [];
    const { options, reports } = collecting({
      headers: RULES,
      paths: new PathSet(["/a", `${BELOW}/a`]),
      trust: ({ headers }) => {
        seen.push(headers["x-internal-user"]);
        return headers["x-debug"] === "trusted";
      },
    });
    await using started = await start(name, options, echo);
    const internal = ["X-Internal-User", "ada", "X-Debug", "trusted"];
    const { headers, body } = await ask(started.url, { path: "/a", headers: internal });
    expect(`${body}`).toContain("X-Internal-User,ada");
    expect([headers["x-internal-node"], headers["x-kept"]]).toEqual([undefined, "1"]);
    expect(reports.map(({ direction }) => direction)).toEqual(["responses"]);
    expect((await ask(started.url, { path: "/b", headers: internal })).status).toBe(404);
    expect(`${(await ask(started.url, { path: "/a", headers: FORGED })).body}`).not.toContain(
      "root",
    );
    // The predicate saw the request before it was stripped.
    expect(seen).toEqual(["ada", "ada", "root, 2"]);
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new RangeError("no list of callers");
      },
    ],
    ["returns a promise of true", async () => true],
    ["returns a promise that is rejected", () => Promise.reject(new RangeError("no list"))],
    ["returns 1", () => 1],
    ["returns an object", () => ({})],
    ["returns nothing", () => {}],
  ])("strips a request if trust %s", async (_how, trust) => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    await using started = await start(name, { headers: RULES, trust: trust as never }, echo);
    expect(`${(await ask(started.url, { headers: FORGED })).body}`).not.toContain("root");
  });
});

describe.each(Object.entries(FETCH))("%s", (_name, make) => {
  test.each([true, false])("reports each kind once for a message (dry run: %s)", async (dryRun) => {
    const paths = async (path: string) => path === "/a";
    const { options, reports } = collecting({ headers: RULES, dryRun, paths });
    const fetch = make(options);
    const response = await fetch(forged());
    expect((await response.text()).includes("root")).toBe(dryRun);
    expect(response.headers.get("x-internal-node")).toBe(dryRun ? "a" : null);
    expect(reports).toEqual([
      {
        ...{ kind: "strip", direction: "requests" },
        ...{ names: ["x-debug", "x-internal-user"], count: 2 },
      },
      {
        ...{ kind: "strip", direction: "responses" },
        ...{ names: ["x-debug", "x-internal-node"], count: 2 },
      },
    ]);
    const { status } = await fetch(new Request("http://localhost/b?token=1"));
    expect(status).toBe(dryRun ? 200 : 404);
    expect(reports[2]).toEqual({ kind: "refuse", direction: "requests", path: "/b", count: 1 });
  });

  test.each([true, false])(
    "reports a Connection that nominates a field for all recipients once (dry run: %s)",
    async (dryRun) => {
      const headers = { requests: ["connection", "x-debug"] };
      const { options, reports } = collecting({ headers, dryRun, paths: () => false });
      const nominating = new Request("http://localhost/b");
      for (const [name, value] of [
        ["connection", "cookie"],
        ["x-debug", "1"],
      ] as const) {
        nominating.headers.append(name, value);
      }
      // Fetch forbids `Connection` and `Cookie` in requests, but not in responses' headers.
      const sent = new Headers({ connection: "cookie", cookie: "a=1", "x-debug": "1" });
      Object.defineProperty(nominating, "headers", { value: sent });
      const { status } = await make(options)(nominating);
      expect(status).toBe(dryRun ? 200 : 400);
      expect(sent.get("x-debug")).toBe("1");
      const names = ["connection"];
      expect(reports).toEqual([{ kind: "refuse", direction: "requests", names, count: 1 }]);
    },
  );

  test("leaves the fields of trusted requests alone, but not their response", async () => {
    const { options, reports } = collecting({ headers: RULES });
    const fetch = make({ ...options, trust: () => true });
    const response = await fetch(forged());
    expect(await response.text()).toContain("root");
    expect(response.headers.get("x-internal-node")).toBeNull();
    expect(reports.map(({ direction }) => direction)).toEqual(["responses"]);
  });

  test("keeps immutable messages in a dry run", async () => {
    const origin = await serve(echo);
    const { options, reports } = collecting({ headers: RULES, dryRun: true });
    const response = await fetch(origin.url);
    const passed = await forWorkers(options as never, { fetch: async () => response }).fetch(
      forged(),
    );
    expect(passed).toBe(response);
    expect(reports.at(-1)).toMatchObject({
      names: ["x-debug", "x-internal-node", "x-internal-zone"],
    });
    await response.text();
    await closed(origin.server);
  });
});

describe("hedgerow/undici", () => {
  test.each([true, false])("reports each kind once for a message (dry run: %s)", async (dryRun) => {
    const { server, url } = await serve(echo);
    const { options, reports } = collecting({
      ...{ headers: RULES, dryRun },
      paths: async (path: string) => path === "/a",
    });
    const agent = new Agent();
    const dispatcher = agent.compose(forUndici(options as never));
    const sent = { dispatcher, headers: { "X-Internal-User": "root", "x-kept": "1" } };
    const { headers, body } = await request(new URL("/a", url), sent);
    expect((await body.text()).includes("root")).toBe(dryRun);
    expect(headers["x-internal-node"]).toEqual(dryRun ? ["a", "b"] : undefined);
    expect(reports).toEqual([
      { kind: "strip", direction: "requests", names: ["x-internal-user"], count: 1 },
      {
        ...{ kind: "strip", direction: "responses" },
        ...{ names: ["x-internal-node", "x-debug", "x-internal-zone"], count: 3 },
      },
    ]);
    const absent = await request(new URL("/b", url), { dispatcher });
    expect(absent.statusCode).toBe(dryRun ? 200 : 404);
    await absent.body.text();
    expect(reports[2]).toEqual({ kind: "refuse", direction: "requests", path: "/b", count: 1 });
    await agent.destroy();
    await closed(server);
  });

  test("sends a request whose Connection would be refused in a dry run, from fields that can be read once", async () => {
    const { server, url } = await serve(echo);
    const { options, reports } = collecting({ headers: ["connection", "x-debug"], dryRun: true });
    const agent = new Agent();
    const dispatched: unknown[] = [];
    const dispatcher = agent.compose(
      (dispatch) => (given, handler) => {
        dispatched.push(given.headers);
        // undici itself rejects such a `Connection`.
        return dispatch({ ...given, headers: { "x-seen": "1" } }, handler);
      },
      forUndici(options as never),
    );
    const fields = [
      ["Connection", "host"],
      ["Host", "a"],
      ["X-Debug", "1"],
    ] as const;
    const { body } = await request(url, { dispatcher, headers: fields.values() as never });
    await body.text();
    expect(dispatched).toEqual([fields.flat()]);
    expect(reports[0]).toEqual({
      ...{ kind: "refuse", direction: "requests", names: ["connection"], count: 1 },
    });
    await agent.destroy();
    await closed(server);
  });

  test("leaves the fields of trusted requests alone", async () => {
    const { server, url } = await serve(echo);
    const agent = new Agent();
    const trust = ({ path }: { path: string }) => path === "/internal";
    const dispatcher = agent.compose(forUndici({ headers: RULES, trust }));
    const bodyOf = async (path: string) => {
      const headers = { "X-Internal-User": "root" };
      return (await request(new URL(path, url), { dispatcher, headers })).body.text();
    };
    expect(await bodyOf("/internal")).toContain("root");
    expect(await bodyOf("/public")).not.toContain("root");
    await agent.destroy();
    await closed(server);
  });
});

test("hedgerow/connect reports heads and pushes on HTTP/2 once", async () => {
  for (const dryRun of [true, false]) {
    const { options, reports } = collecting({ headers: { responses: RULES }, dryRun });
    const guard = forConnect(options as never);
    const server = createHttp2((incoming, response) =>
      guard(incoming as never, response as never, () => {
        if (incoming.url === "/pushed") return response.end();
        response.setHeader("x-debug", "1");
        response.stream.pushStream({ ":path": "/b", "x-internal-hint": "1" }, (_error, pushed) => {
          pushed.respond({ ":status": 200, "x-internal-zone": "eu" });
          pushed.end();
        });
        response.end("done");
      }),
    );
    const session = http2Connect(await listening(server));
    const stream = session.request({ ":path": "/a" });
    const [headers] = await once(stream, "response");
    expect(headers["x-debug"]).toBe(dryRun ? "1" : undefined);
    expect(await text(stream)).toBe("done");
    session.close();
    server.close();
    const names = reports.map((report) => report.names?.join()).sort();
    expect(names).toEqual(["x-debug", "x-internal-hint", "x-internal-zone"]);
  }
});

test("adapters that share a stripper report to their own functions", async () => {
  const stripper = new HeaderStripper(RULES);
  const first = collecting({ headers: stripper });
  const second = collecting({ headers: stripper, dryRun: true });
  await FETCH["hedgerow/workers"]!(first.options)(forged());
  await FETCH["hedgerow/hono"]!(second.options)(forged());
  expect(second.reports).toEqual(first.reports);
});

test("hedgerow/connect counts each field once when writeHead gets two objects", async () => {
  const { options, reports } = collecting({ headers: { responses: RULES } });
  const adapter = forConnect(options as never);
  const { server, url } = await serve((request, response) =>
    adapter(request, response, () => {
      response.setHeader("x-debug", "1");
      const fields = [{ "x-internal-a": "1" }, { "x-internal-b": "1" }];
      (response.writeHead as (...args: unknown[]) => unknown)(200, ...fields);
      response.end();
    }),
  );
  try {
    await ask(url);
  } finally {
    await closed(server);
  }
  const names = ["x-debug", "x-internal-a", "x-internal-b"];
  expect(reports).toEqual([{ kind: "strip", direction: "responses", names, count: 3 }]);
});

test("hedgerow/connect reports the head that is sent after a writeHead that throws", async () => {
  const { options, reports } = collecting({ headers: { responses: RULES } });
  const adapter = forConnect(options as never);
  const { server, url } = await serve((request, response) =>
    adapter(request, response, () => {
      expect(() => response.writeHead(99_999, { "x-internal-a": "1" })).toThrow(RangeError);
      response.writeHead(500, { "x-internal-b": "1" });
      response.end();
    }),
  );
  try {
    await ask(url);
  } finally {
    await closed(server);
  }
  const names = ["x-internal-b"];
  expect(reports).toEqual([{ kind: "strip", direction: "responses", names, count: 1 }]);
});

test("hedgerow/undici passes on that a response has started", async () => {
  const { server, url } = await serve(echo);
  const agent = new Agent();
  const calls: string[] = [];
  await new Promise<void>((resolve, reject) => {
    agent.compose(forUndici({ headers: RULES })).dispatch(
      { origin: url.origin, path: "/", method: "GET" },
      {
        onRequestStart: () => void calls.push("onRequestStart"),
        onResponseStarted: () => void calls.push("onResponseStarted"),
        onResponseStart: () => void calls.push("onResponseStart"),
        onResponseData() {},
        onResponseEnd: () => resolve(),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
  await agent.close();
  await closed(server);
  expect(calls).toEqual(["onRequestStart", "onResponseStarted", "onResponseStart"]);
});

test("inherited options take effect", async () => {
  const options = Object.create({ paths: new PathSet([]), methods: ["POST"] });
  const { fetch } = forWorkers(options, { fetch: fetchEcho as never });
  const status = async (method: string) =>
    (await fetch(new Request("http://localhost/a", { method }) as never)).status;
  expect([await status("GET"), await status("POST")]).toEqual([200, 404]);
});
