/** Listeners of Node's servers with each adapter, or none, in front of an origin. */
import type { RequestListener } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import connect from "connect";
import express from "express";
import Fastify from "fastify";
import { type ConnectOptions, hedgerow as forNode } from "hedgerow/connect";
import { hedgerow as forFastify } from "hedgerow/fastify";
import { hedgerow as forHono } from "hedgerow/hono";
import { Hono } from "hono";
import type { Origin } from "../../support/http/origin.js";

/** Options of every adapter. */
export type Options = Pick<ConnectOptions, "headers" | "dryRun" | "report"> & {
  paths?: (path: string) => boolean;
};

/** Makes a listener with an adapter, or without one if there are no options. */
export type MakeListener = (
  options: Options | undefined,
  origin: Origin,
) => RequestListener | Promise<RequestListener>;

export const listeners: Record<string, MakeListener> = {
  "node:http": (options, origin) => {
    if (options === undefined) return origin.listener;
    const guard = forNode(options);
    return (request, response) =>
      guard(request, response, () => origin.listener(request, response));
  },

  connect: (options, origin) => {
    const app = connect();
    if (options !== undefined) app.use(forNode(options));
    return app.use(origin.listener);
  },

  express: (options, origin) => {
    const app = express().disable("x-powered-by");
    if (options !== undefined) app.use(forNode(options));
    return app.use(origin.listener);
  },

  fastify: async (options, origin) => {
    const app = Fastify();
    if (options !== undefined) await app.register(forFastify, options);
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
export const honoListener: MakeListener = (options, origin) => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  if (options !== undefined) app.use(forHono(options));
  app.all("/*", (c) => origin.respond(c.req.raw));
  return getRequestListener(app.fetch);
};
