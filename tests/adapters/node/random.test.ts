/** Random exchanges with the adapters for Node's servers, over real sockets. */
import { createServer, type RequestListener } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import connect from "connect";
import express from "express";
import Fastify from "fastify";
import { hedgerow as forNode } from "hedgerow/connect";
import { hedgerow as forFastify } from "hedgerow/fastify";
import { hedgerow as forHono } from "hedgerow/hono";
import { Hono } from "hono";
import { describe, test } from "vitest";
import { checkExchanges, FRAMING, type Subject, served, TITLE } from "../../support/http/check.js";
import { closed, listening } from "../../support/http/listen.js";
import type { Origin } from "../../support/http/origin.js";
import type { RuleSet } from "../../support/http/rule-sets.js";

type MakeListener = (rules: RuleSet, origin: Origin) => RequestListener | Promise<RequestListener>;

const listeners: Record<string, MakeListener> = {
  "node:http": (headers, origin) => {
    const guard = forNode({ headers });
    return (request, response) =>
      guard(request, response, () => origin.listener(request, response));
  },

  connect: (headers, origin) => connect().use(forNode({ headers })).use(origin.listener),

  express: (headers, origin) => {
    const app = express().disable("x-powered-by");
    return app.use(forNode({ headers })).use(origin.listener);
  },

  fastify: async (headers, origin) => {
    const app = Fastify();
    await app.register(forFastify, { headers });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    app.all("/*", (request, reply) => {
      reply.hijack();
      return origin.listener(request.raw, reply.raw);
    });
    await app.ready();
    return (request, response) => app.routing(request, response);
  },
};

/** Hono handles Fetch requests. */
const honoListener: MakeListener = (headers, origin) => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(forHono({ headers }));
  app.all("/*", (c) => origin.respond(c.req.raw));
  return getRequestListener(app.fetch);
};

function subject(makeListener: MakeListener): Subject {
  return {
    exact: { requests: true, responses: true },
    latin1: { requests: true, responses: true },
    free: { requests: [], responses: FRAMING },
    nominates: true,
    async start(rules, origin) {
      const server = createServer(await makeListener(rules, origin));
      return served(await listening(server), () => closed(server));
    },
  };
}

const hono: Subject = {
  ...subject(honoListener),
  exact: { requests: false, responses: false },
  // Node writes a head before a stream as UTF-8.
  latin1: { requests: true, responses: false },
  // The server adds a missing content type, and stores response fields in a plain object.
  free: { requests: [], responses: [...FRAMING, "content-type", "__proto__"] },
};

describe(TITLE, () => {
  const subjects = {
    ...Object.fromEntries(
      Object.entries(listeners).map(([name, listener]) => [name, subject(listener)]),
    ),
    "hono on Node": hono,
  };
  test.for(Object.entries(subjects))("%s", { timeout: 300_000 }, ([, subject]) =>
    checkExchanges(subject),
  );
});
