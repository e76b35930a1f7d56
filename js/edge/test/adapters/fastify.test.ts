/** Features of Fastify: plugins, hooks, errors, `inject`, and unknown routes. */
import { createServer, type IncomingMessage } from "node:http";
import Fastify, {
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyServerFactory,
  type FastifyServerOptions,
} from "fastify";
import { HeaderStripper, PathSet } from "hedgerow";
import { stripRequest, stripResponse } from "hedgerow/connect";
import plugin, { type FastifyOptions, hedgerow } from "hedgerow/fastify";
import { expect, test } from "vitest";

const RULES = ["x-internal-*", "x-debug"];
const FORGED = { "X-Internal-User": "root", "x-debug": "1", "x-kept": "1" };

const echo: FastifyPluginAsync = async (app) => {
  app.get("/echo", (request, reply) => {
    reply.headers({ "X-Internal-Node": "a7", "x-kept": "2" });
    reply.header("set-cookie", "a=1").header("set-cookie", "b=2");
    return { headers: request.headers, raw: request.raw.rawHeaders };
  });
};

/** Returns an application with the adapter and {@link echo}. */
async function appOf(options: FastifyOptions): Promise<FastifyInstance> {
  const app = Fastify();
  await app.register(hedgerow, options);
  await app.register(echo);
  return app;
}

test("the default export of hedgerow/fastify is the plugin", () => {
  expect(plugin).toBe(hedgerow);
});

test("hedgerow/fastify strips requests and responses of inject()", async () => {
  const app = await appOf({ headers: RULES });
  const { headers, json, body } = await app.inject({ url: "/echo", headers: FORGED });
  expect(json().headers).toMatchObject({ "x-kept": "1" });
  expect(body).not.toMatch(/internal|debug/i);
  expect(headers).toMatchObject({ "x-kept": "2", "set-cookie": ["a=1", "b=2"] });
  expect(headers).not.toHaveProperty("x-internal-node");
});

test("hedgerow/fastify applies to plugins before and after it, and to nested ones", async () => {
  const app = Fastify();
  await app.register(echo, { prefix: "/before" });
  await app.register(hedgerow, { headers: RULES });
  await app.register(echo, { prefix: "/after" });
  await app.register(async (inner) => {
    await inner.register(echo, { prefix: "/inside" });
  });
  for (const prefix of ["/before", "/after", "/inside"]) {
    const { headers, body } = await app.inject({ url: `${prefix}/echo`, headers: FORGED });
    expect(body).not.toMatch(/internal|debug/i);
    expect(headers).not.toHaveProperty("x-internal-node");
  }
});

test("hedgerow/fastify registered by an encapsulated plugin does not apply outside it", async () => {
  const app = Fastify();
  await app.register(async (inner) => {
    await inner.register(hedgerow, { headers: RULES });
    await inner.register(echo, { prefix: "/inside" });
  });
  await app.register(echo, { prefix: "/outside" });
  const ask = (url: string) => app.inject({ url, headers: FORGED });
  expect((await ask("/inside/echo")).headers).not.toHaveProperty("x-internal-node");
  expect((await ask("/outside/echo")).headers).toHaveProperty("x-internal-node", "a7");
});

test("hedgerow/fastify strips requests before later hooks", async () => {
  const seen: unknown[] = [];
  const app = Fastify();
  await app.register(hedgerow, { headers: RULES });
  app.addHook("onRequest", async ({ headers }) => void seen.push(headers["x-debug"]));
  app.addHook("preHandler", async ({ headers }) => void seen.push(headers["x-internal-user"]));
  await app.register(echo);
  expect((await app.inject({ url: "/echo", headers: FORGED })).statusCode).toBe(200);
  expect(seen).toEqual([undefined, undefined]);
});

test("hedgerow/fastify strips fields that hooks and error handlers add", async () => {
  const app = await appOf({ headers: RULES });
  app.addHook("onSend", async (_request, reply) => void reply.header("x-debug", "1"));
  app.get("/fails", () => {
    throw new RangeError("no storage");
  });
  app.setErrorHandler((_error, _request, reply) => {
    reply.code(503).header("x-internal-node", "a7").send("sorry");
  });
  for (const [url, status] of [
    ["/echo", 200],
    ["/fails", 503],
    ["/nowhere", 404],
  ] as const) {
    const { statusCode, headers } = await app.inject({ url });
    expect(statusCode).toBe(status);
    expect(Object.keys(headers).join()).not.toMatch(/internal|debug/);
  }
});

test("hedgerow/fastify strips a hijacked reply", async () => {
  const app = await appOf({ headers: RULES });
  app.get("/raw", (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { "x-debug": "1", "x-kept": "1" }).end("raw");
  });
  const { headers, body } = await app.inject({ url: "/raw" });
  expect([headers["x-debug"], headers["x-kept"], body]).toEqual([undefined, "1", "raw"]);
});

test("hedgerow/fastify answers absent paths with the application's notFound handler", async () => {
  for (const paths of [new PathSet(["/echo"]), async (path: string) => path === "/echo"]) {
    const asked: string[] = [];
    const app = await appOf({ paths });
    app.get("/absent", async () => void asked.push("/absent"));
    app.setNotFoundHandler((_request, reply) => reply.code(404).send("the application's own"));
    expect((await app.inject({ url: "/echo?a" })).statusCode).toBe(200);
    for (const url of ["/absent", "/nowhere"]) {
      const { statusCode, body } = await app.inject({ url });
      expect([statusCode, body]).toEqual([404, "the application's own"]);
    }
    expect(asked).toEqual([]);
  }
});

test("hedgerow/fastify does not check the path of an unknown route", async () => {
  const asked: string[] = [];
  const app = await appOf({ paths: (path) => asked.push(path) > 0 });
  expect((await app.inject({ url: "/nowhere" })).statusCode).toBe(404);
  expect((await app.inject({ url: "/echo" })).statusCode).toBe(200);
  expect(asked).toEqual(["/echo"]);
});

test("the option notFound of hedgerow/fastify replaces the answer, synchronously or later", async () => {
  const answers: NonNullable<FastifyOptions["notFound"]>[] = [
    ({ url }, reply) => void reply.code(410).header("x-debug", "1").send(url),
    ({ url }, reply) => reply.code(410).header("x-debug", "1").send(url),
  ];
  for (const paths of [() => false, async () => false]) {
    for (const notFound of answers) {
      const app = await appOf({ paths, notFound, headers: RULES });
      const { statusCode, body, headers } = await app.inject({ url: "/echo" });
      expect([statusCode, body, headers["x-debug"]]).toEqual([410, "/echo", undefined]);
    }
  }
});

test("errors of notFound reach Fastify's error handler", async () => {
  const failure = new RangeError("no answer");
  const notFound = () => {
    throw failure;
  };
  for (const paths of [() => false, async () => false]) {
    const reported: unknown[] = [];
    const app = Fastify();
    app.setErrorHandler((error, _request, reply) => {
      reported.push(error);
      reply.code(503).send();
    });
    await app.register(hedgerow, { paths, notFound });
    await app.register(echo);
    expect((await app.inject({ url: "/echo" })).statusCode).toBe(503);
    expect(reported).toEqual([failure]);
  }
});

test("two registrations of hedgerow/fastify strip what either of them matches", async () => {
  const app = await appOf({ headers: ["x-debug"] });
  await app.register(hedgerow, { headers: ["x-internal-*"] });
  const inner: FastifyPluginAsync = async (scope) => scope.register(echo, { prefix: "/twice" });
  await app.register(inner);
  const { headers, body } = await app.inject({ url: "/twice/echo", headers: FORGED });
  expect(body).not.toMatch(/internal|debug/i);
  expect(headers).not.toHaveProperty("x-internal-node");
});

/** Returns an application whose framework errors respond with the fields of the request. */
async function failing(options: FastifyServerOptions): Promise<FastifyInstance> {
  const tenant = {
    name: "tenant",
    storage: () => ({ get: () => null, set: () => {} }),
    validate: () => {},
    deriveConstraint(request: IncomingMessage, _context: unknown, done: (error: unknown) => void) {
      done(request.headers["x-tenant"] === undefined ? null : new RangeError("unknown"));
    },
  };
  const routerOptions = { maxParamLength: 9, constraints: { tenant } } as never;
  const app = Fastify({ ...options, routerOptions });
  await app.register(hedgerow, { headers: RULES });
  app.get("/:name", { constraints: { tenant: "a" } }, () => "there");
  return app;
}

/** Requests with a bad URL, a too long parameter, and a failing constraint. */
const FRAMEWORK_ERRORS = [
  { url: "/%", status: 400, headers: FORGED },
  { url: `/${"a".repeat(10)}`, status: 414, headers: FORGED },
  { url: "/a", status: 500, headers: { ...FORGED, "x-tenant": "b" } },
];

test.each(FRAMEWORK_ERRORS)(
  "frameworkErrors runs before hedgerow/fastify and strips by itself: $url",
  async ({ url, status, headers }) => {
    const internal = new HeaderStripper(RULES);
    for (const isByHand of [false, true]) {
      const app = await failing({
        frameworkErrors(_error, request, given) {
          const reply = given as unknown as FastifyReply;
          if (isByHand) {
            stripRequest(internal, request.raw);
            stripResponse(internal, reply.raw);
          }
          reply.code(status).header("x-internal-node", "a7").header("x-kept", "2");
          reply.send(request.headers);
        },
      });
      const answer = await app.inject({ url, headers });
      expect(answer.statusCode).toBe(status);
      expect(answer.headers["x-kept"]).toBe("2");
      expect(answer.headers["x-internal-node"]).toBe(isByHand ? undefined : "a7");
      expect(answer.json()["x-internal-user"]).toBe(isByHand ? undefined : "root");
    }
  },
);

test.each(FRAMEWORK_ERRORS)(
  "Fastify's own error responses contain no request fields: $url",
  async ({ url, status, headers }) => {
    const answer = await (await failing({})).inject({ url, headers });
    expect(answer.statusCode).toBe(status);
    expect(JSON.stringify([answer.headers, answer.body])).not.toMatch(/internal-|debug|root/i);
  },
);

test("rewriteUrl and genReqId see a request before hedgerow/fastify", async () => {
  const seen: unknown[] = [];
  const app = Fastify({
    rewriteUrl: ({ headers }) => `/${seen.push(headers["x-internal-user"])}`,
    genReqId: ({ headers }) => `${seen.push(headers["x-internal-user"])}`,
  });
  await app.register(hedgerow, { headers: RULES });
  app.get("/1", ({ headers }) => headers);
  const { body } = await app.inject({ url: "/", headers: FORGED });
  expect(seen).toEqual(["root", "root"]);
  expect(body).not.toMatch(/internal|debug/i);
});

/** An application whose routes, request IDs and loggers depend on internal fields. */
async function reading(seen: unknown[], serverFactory?: FastifyServerFactory) {
  const app = Fastify({
    ...(serverFactory && { serverFactory }),
    requestIdHeader: "x-internal-id",
    childLoggerFactory(logger, bindings, options, { headers }) {
      seen.push(headers["x-internal-user"]);
      return logger.child(bindings, options);
    },
    routerOptions: {
      constraints: {
        user: {
          name: "user",
          storage() {
            const handlers = new Map();
            return {
              get: (key: unknown) => handlers.get(key) ?? null,
              set: (key: unknown, handler: unknown) => handlers.set(key, handler),
            };
          },
          deriveConstraint: ({ headers }: IncomingMessage) => headers["x-internal-user"],
          validate() {},
        },
      },
    },
  } as FastifyServerOptions);
  await app.register(hedgerow, { headers: RULES });
  app.get("/", { constraints: { user: "root" } }, ({ id }) => ["root", id]);
  app.get("/", ({ id }) => ["anyone", id]);
  return app;
}

test("route constraints, requestIdHeader and childLoggerFactory see a request before hedgerow/fastify", async () => {
  const headers = { ...FORGED, "x-internal-id": "forged" };
  const seen: unknown[] = [];
  const forged = await (await reading(seen)).inject({ url: "/", headers });
  expect([forged.json(), seen]).toEqual([["root", "forged"], ["root"]]);

  const stripper = new HeaderStripper(RULES);
  const serverFactory: FastifyServerFactory = (handler) =>
    createServer((request, response) => {
      stripRequest(stripper, request);
      handler(request, response);
    });
  const app = await reading(seen, serverFactory);
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const stripped = (await (await fetch(url, { headers })).json()) as string[];
  expect([stripped[0], stripped[1] !== "forged", seen]).toEqual([
    "anyone",
    true,
    ["root", undefined],
  ]);
  await app.close();
});
