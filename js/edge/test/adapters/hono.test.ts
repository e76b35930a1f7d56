/** Hono on Node's servers, where Node's messages are stripped, and on other runtimes. */
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { PathSet, preset } from "hedgerow";
import { type HonoOptions, hedgerow } from "hedgerow/hono";
import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, sendRaw } from "../../../../tests/support/http/client.js";
import { digestOf } from "../../../../tests/support/http/content.js";
import { closed, listening, serve } from "../../../../tests/support/http/listen.js";

const RULES = ["x-internal-*", "x-debug"];
const FORGED = ["X-Internal-User", "root", "x-DEBUG", "1", "x-kept", "1"];

type App = Hono<{ Bindings: HttpBindings }>;

/** Returns an app whose first middleware is the adapter. */
function appOf(options: HonoOptions): App {
  return new Hono<{ Bindings: HttpBindings }>().use(hedgerow(options));
}

/** Runs `use` with an app on a server. */
async function on(app: App, use: (url: URL) => Promise<void>): Promise<void> {
  const server = createServer(getRequestListener(app.fetch));
  try {
    await use(await listening(server));
  } finally {
    await closed(server);
  }
}

/** Responds with all forms in which a handler can read the fields. */
const shown = (c: Context) =>
  JSON.stringify([
    ...[c.req.header(), c.req.header("x-internal-user"), c.req.header("X-Debug")],
    ...[[...c.req.raw.headers], [...c.req.raw.clone().headers], c.env?.incoming?.rawHeaders],
    ...[c.env?.incoming?.headers, c.req.raw.headers.get("X-Internal-User")],
  ]);

test("hedgerow/hono strips the fields that handlers read in any way", async () => {
  const app = appOf({ headers: RULES }).all("/", (c) => c.body(shown(c)));
  await on(app, async (url) => {
    const { body } = await ask(url, { headers: FORGED });
    expect(JSON.parse(`${body}`)[0]).toMatchObject({ "x-kept": "1" });
    expect(`${body}`).not.toMatch(/internal|debug/i);
  });
});

test("hedgerow/hono strips fields that earlier middleware has read", async () => {
  const seen: unknown[] = [];
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(async (c, next) => {
    seen.push(c.req.header("x-debug"), [...c.req.raw.headers.keys()].includes("x-internal-user"));
    await next();
  });
  app.use(hedgerow({ headers: RULES }));
  app.all("/", async (c) => c.body(shown(c) + (await c.req.text())));
  await on(app, async (url) => {
    const { body } = await ask(url, { method: "POST", headers: FORGED, body: "sent" });
    expect(seen).toEqual(["1", true]);
    expect(`${body}`).toMatch(/\]sent$/);
    expect(`${body}`).not.toMatch(/internal|debug/i);
  });
});

/** An origin whose responses have internal fields. */
let origin: { server: Server; url: URL };

beforeAll(async () => {
  origin = await serve((_request, response) => {
    response.writeHead(200, { "x-debug": "1", "x-kept": "1", "content-length": "4" }).end("body");
  });
});

afterAll(() => closed(origin.server));

const ANSWERS: Record<string, (c: Context) => Response | Promise<Response>> = {
  text: (c) => c.text("body", 200, { "x-debug": "1", "x-kept": "1" }),
  "fields of the context": (c) => {
    c.header("X-Internal-Node", "a7");
    c.header("x-kept", "1");
    return c.body("body");
  },
  "a Response": () => new Response("body", { headers: { "X-Debug": "1", "x-kept": "1" } }),
  "an answer of fetch, which nobody may change": () => fetch(origin.url),
  "a stream": (c) => {
    c.header("x-debug", "1");
    c.header("x-kept", "1");
    return stream(c, async (out) => {
      await out.write("bo");
      await out.write("dy");
    });
  },
  "no body": () => new Response(null, { status: 204, headers: { "x-debug": "1", "x-kept": "1" } }),
  "a redirect": (c) => {
    c.header("x-debug", "1");
    c.header("x-kept", "1");
    return c.redirect("/elsewhere");
  },
};

describe.each(["a server of Node", "app.request"])("%s", (where) => {
  test.each(Object.entries(ANSWERS))(
    "hedgerow/hono strips a response made of %s",
    async (_what, make) => {
      const app = appOf({ headers: RULES }).all("/", (c) => make(c));
      const check = (names: string[]) => {
        expect(names).toContain("x-kept");
        expect(names.join()).not.toMatch(/internal|debug/);
      };
      if (where === "app.request") check([...(await app.request("/")).headers.keys()]);
      else await on(app, async (url) => check(Object.keys((await ask(url)).headers)));
    },
  );
});

test("hedgerow/hono keeps cookies separate when it strips other fields", async () => {
  const app = appOf({ headers: RULES }).all("/", (c) => {
    for (const cookie of ["a=1", "b=2"]) c.header("set-cookie", cookie, { append: true });
    return c.text("body", 200, { "x-debug": "1" });
  });
  await on(app, async (url) => {
    expect((await ask(url)).headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  });
  expect((await app.request("/")).headers.getSetCookie()).toEqual(["a=1", "b=2"]);
});

test("hedgerow/hono on Node strips fields that earlier middleware adds", async () => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(async (c, next) => {
    await next();
    c.header("x-debug", "1");
  });
  app.use(hedgerow({ headers: RULES })).all("/", (c) => c.text("body"));
  await on(app, async (url) => {
    expect((await ask(url)).headers).not.toHaveProperty("x-debug");
  });
});

test("hedgerow/hono strips responses to errors and unknown routes", async () => {
  const app = appOf({ headers: RULES }).get("/fails", () => {
    throw new RangeError("no storage");
  });
  app.onError((_error, c) => c.text("sorry", 503, { "x-debug": "1", "x-kept": "1" }));
  app.notFound((c) => c.text("nowhere", 404, { "x-debug": "1", "x-kept": "1" }));
  for (const [path, status] of [
    ["/fails", 503],
    ["/nowhere", 404],
  ] as const) {
    const { headers } = await app.request(path);
    expect([headers.get("x-debug"), headers.get("x-kept")]).toEqual([null, "1"]);
    await on(app, async (url) => {
      const reply = await ask(url, { path });
      expect(reply.status).toBe(status);
      expect([reply.headers["x-debug"], reply.headers["x-kept"]]).toEqual([undefined, "1"]);
    });
  }
});

test("hedgerow/hono strips the fields that Connection nominates", async () => {
  const app = appOf({ headers: preset("hop-by-hop") }).all("/", (c) => {
    const fields = { connection: "keep-alive, x-hop", "x-hop": "1", "x-kept": "1" };
    return c.text(shown(c), 200, fields);
  });
  await on(app, async (url) => {
    const headers = ["Connection", "close, X-Asked", "x-asked", "1", "x-kept", "1"];
    const reply = await ask(url, { headers });
    expect(`${reply.body}`).toContain("x-kept");
    expect(`${reply.body}`).not.toContain("x-asked");
    expect([reply.headers["x-hop"], reply.headers["x-kept"]]).toEqual([undefined, "1"]);
  });
  const asked = { connection: "x-asked", "x-asked": "1", "x-kept": "1" };
  const { headers } = await app.request("/", { headers: asked });
  expect([headers.get("x-hop"), headers.get("x-kept")]).toEqual([null, "1"]);
});

test("hedgerow/hono passes bodies of 20 MiB unchanged", async () => {
  const bytes = randomBytes(20 * 2 ** 20);
  const app = appOf({ headers: RULES }).put("/", (c) => new Response(c.req.raw.body));
  await on(app, async (url) => {
    for (const framing of [
      ["Transfer-Encoding", "chunked"],
      ["Content-Length", `${bytes.length}`],
    ]) {
      const { body } = await ask(url, {
        method: "PUT",
        headers: [...FORGED, ...framing],
        body: bytes,
      });
      expect(await digestOf(body)).toBe(await digestOf(bytes));
    }
  });
});

test("hedgerow/hono answers HEAD without a body", async () => {
  const app = appOf({ headers: RULES }).get("/", (c) => c.text("body", 200, { "x-debug": "1" }));
  await on(app, async (url) => {
    const { status, headers, body } = await ask(url, { method: "HEAD", headers: FORGED });
    expect([status, body.length, headers["x-debug"]]).toEqual([200, 0, undefined]);
  });
});

test("hedgerow/hono strips forged fields that arrive byte by byte", async () => {
  const app = appOf({ headers: RULES }).all("/", (c) => c.text(shown(c)));
  await on(app, async (url) => {
    const forged = "x-INTERNAL-user: forged\r\n__proto__: 1\r\nX-Internal-User:\tforged\r\n";
    const head = `GET / HTTP/1.1\r\nHost: a\r\n${forged}X-Kept: 1\r\nConnection: close\r\n\r\n`;
    const answer = await sendRaw(url, head);
    expect(answer).toContain("x-kept");
    expect(answer).not.toMatch(/forged|internal/i);
  });
});

test("hedgerow/hono answers absent paths with the app's notFound, or with the option notFound", async () => {
  const failure = new RangeError("no storage");
  const reported: unknown[] = [];
  const onError = (error: unknown, c: Context) => void reported.push(error, c.req.path);
  const sources: [HonoOptions, number][] = [
    [{ paths: new PathSet(["/a"]) }, 404],
    [{ paths: async (path) => path === "/a" }, 404],
    [{ paths: new PathSet(["/a"]), notFound: (c) => c.text(c.req.path, 410) }, 410],
    [{ paths: () => Promise.reject(failure), onError }, 200],
  ];
  for (const [options, status] of sources) {
    const app = appOf({ ...options, headers: RULES }).all("/*", (c) => c.text("there"));
    app.notFound((c) => c.text("the app's own", 404, { "x-debug": "1" }));
    expect((await app.request("/b")).status).toBe(status);
    await on(app, async (url) => {
      expect((await ask(url, { path: "/a?c" })).status).toBe(200);
      const reply = await ask(url, { path: "/b" });
      expect([reply.status, reply.headers["x-debug"]]).toEqual([status, undefined]);
    });
  }
  expect(reported).toEqual([failure, "/b", failure, "/a", failure, "/b"]);
});

test("errors of the option onError reach the app's onError", async () => {
  const failure = new RangeError("no storage");
  const paths = () => {
    throw failure;
  };
  const app = appOf({ paths, onError: paths }).all("/", (c) => c.text("there"));
  app.onError((error, c) => c.text(String(error === failure), 503));
  const response = await app.request("/");
  expect([response.status, await response.text()]).toEqual([503, "true"]);
});

test("hedgerow/hono takes separate rules for each direction, and can be used twice", async () => {
  const app = appOf({ headers: { requests: ["x-asked"] } });
  app.use(hedgerow({ headers: { responses: ["x-answered"] } }));
  app.all("/", (c) => c.text(shown(c), 200, { "x-asked": "1", "x-answered": "2" }));
  await on(app, async (url) => {
    const { headers, body } = await ask(url, { headers: ["X-Asked", "1", "X-Answered", "2"] });
    expect([headers["x-asked"], headers["x-answered"]]).toEqual(["1", undefined]);
    expect(`${body}`).toContain("x-answered");
    expect(`${body}`).not.toContain("x-asked");
  });
});

test("responses of the app's onError to errors of the adapter's options are stripped only on Node", async () => {
  const notFound = () => {
    throw new RangeError("no storage");
  };
  const app = appOf({ headers: RULES, paths: () => false, notFound });
  app.onError((_error, c) => c.text("sorry", 503, { "x-debug": "1", "x-kept": "1" }));
  await on(app, async (url) => {
    const { status, headers } = await ask(url);
    expect([status, headers["x-debug"], headers["x-kept"]]).toEqual([503, undefined, "1"]);
  });
  const { status, headers } = await app.request("http://localhost/");
  expect([status, headers.get("x-debug"), headers.get("x-kept")]).toEqual([503, "1", "1"]);
});

test("responses of the app's onError and notFound to later handlers are stripped on any runtime", async () => {
  const app = appOf({ headers: RULES });
  app.get("/fails", () => {
    throw new RangeError("no storage");
  });
  app.onError((_error, c) => c.text("sorry", 503, { "x-debug": "1", "x-kept": "1" }));
  app.notFound((c) => c.text("nowhere", 404, { "x-debug": "1", "x-kept": "1" }));
  for (const [path, expected] of [
    ["/fails", 503],
    ["/nowhere", 404],
  ] as const) {
    const { status, headers } = await app.request(path);
    expect([status, headers.get("x-debug"), headers.get("x-kept")]).toEqual([expected, null, "1"]);
  }
});

test("hedgerow/hono strips a response that cannot be copied if the server replaces Response", async () => {
  const { server: origin, url: from } = await serve((request, response) => {
    response.statusMessage = request.url === "/reason" ? "Caf\u00e9" : "Fine";
    response.writeHead(request.url === "/reason" ? 200 : 999, { "x-debug": "1", "x-kept": "1" });
    response.end("body");
  });
  const app = new Hono().use(hedgerow({ headers: RULES }));
  app.get("/*", (c) => fetch(new URL(c.req.path, from)));
  // Without Node's messages, which would be stripped when they are sent.
  const { server, url } = await serve(getRequestListener((request) => app.fetch(request)));
  for (const [path, expected] of [
    ["/reason", 200],
    ["/status", 502],
  ] as const) {
    const { status, headers, body } = await ask(url, { path });
    expect([status, headers["x-debug"], headers["x-kept"]]).toEqual([expected, undefined, "1"]);
    expect(`${body}`).toBe("body");
  }
  await closed(server);
  await closed(origin);
});
