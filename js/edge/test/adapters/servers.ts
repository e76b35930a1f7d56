/** Node's servers with each adapter in front of a handler. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import connect from "connect";
import express from "express";
import Fastify from "fastify";
import { type ConnectOptions, hedgerow } from "hedgerow/connect";
import { type FastifyOptions, hedgerow as plugin } from "hedgerow/fastify";
import { closed, listening } from "../../../../tests/support/http/listen.js";

/** Options of every adapter. */
export type Options = Pick<
  ConnectOptions,
  "headers" | "methods" | "normalize" | "dryRun" | "report"
> & {
  paths?: NonNullable<ConnectOptions["paths"] & FastifyOptions["paths"]>;
  onError?: (error: unknown) => void;
  trust?: (request: { headers: IncomingMessage["headers"] }) => boolean;
};

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The mount point of the router. */
export const BELOW = "/below";

const listeners: Record<
  string,
  (options: Options, handler: Handler) => RequestListener | Promise<RequestListener>
> = {
  "node:http": (options, handler) => {
    const guard = hedgerow(options);
    return (request, response) =>
      guard(request, response, (error) => {
        if (error === undefined) return handler(request, response);
        response.statusCode = 500;
        response.end();
      });
  },

  connect: (options, handler) => connect().use(hedgerow(options)).use(handler),

  express: (options, handler) => expressApp().use(hedgerow(options), handler),

  "a router of express below a path": (options, handler) => {
    const router = express.Router().use(hedgerow(options)).use(handler);
    const app = expressApp().use(BELOW, router);
    return (request, response) => {
      request.url = BELOW + request.url;
      app(request, response);
    };
  },

  fastify: async (options, handler) => {
    const app = Fastify();
    await app.register(plugin, options);
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    app.all("/*", (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
    await app.ready();
    return (request, response) => app.routing(request, response);
  },
};

/** An application whose error pages have no stack trace, which would have positions in the code of the adapter. */
function expressApp() {
  return express().set("env", "production");
}

export const serverNames = Object.keys(listeners);

/** A running server with a handler behind an adapter. */
export interface Started {
  server: Server;
  url: URL;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts one of the servers; use it with `await using`. */
export async function start(name: string, options: Options, handler: Handler): Promise<Started> {
  const server = createServer(await listeners[name]!(options, handler));
  const url = await listening(server);
  return { server, url, [Symbol.asyncDispose]: () => closed(server) };
}
