// A server in each framework, with or without an adapter. All of them read one field of the request and respond.
import { createServer } from "node:http";

import { serve } from "@hono/node-server";
import express from "express";
import Fastify from "fastify";
import * as connect from "hedgerow/connect";
import * as fastify from "hedgerow/fastify";
import * as hono from "hedgerow/hono";
import { Hono } from "hono";

import { BODY, RESPONSE_HEADERS } from "./messages.mjs";
import { addHooks, honoMiddlewareOf, middlewareOf } from "./rivals.mjs";

/** @typedef {import("./messages.mjs").Setup} Setup */

/**
 * Starts a server and returns its port.
 *
 * @typedef {(setup: Setup, onRequest: (agent: unknown) => void) => Promise<number>} Start
 */

const LOOPBACK = { host: "127.0.0.1", port: 0 };

/** @param {import("node:net").Server} server @returns {Promise<number>} */
const portOf = (server) =>
  new Promise((resolve) => {
    const done = () =>
      resolve(/** @type {import("node:net").AddressInfo} */ (server.address()).port);
    if (server.listening) done();
    else server.once("listening", done);
  });

/**
 * Returns middleware for Connect and Express.
 *
 * @param {Exclude<Setup, undefined>} setup
 * @returns {connect.ConnectMiddleware}
 */
const middleware = (setup) => {
  if (setup === "nothing") return (_request, _response, next) => next();
  return setup instanceof Set ? middlewareOf(setup) : connect.hedgerow(setup);
};

/** @type {Record<string, Start>} */
export const FRAMEWORKS = {
  "node:http": (setup, onRequest) => {
    /** @type {import("node:http").RequestListener} */
    const answer = (request, response) => {
      onRequest(request.headers["user-agent"]);
      response.writeHead(200, RESPONSE_HEADERS);
      response.end(BODY);
    };
    const first = setup && middleware(setup);
    const server = first
      ? createServer((request, response) =>
          first(request, response, () => answer(request, response)),
        )
      : createServer(answer);
    return portOf(server.listen(LOOPBACK));
  },

  express: (setup, onRequest) => {
    const app = express();
    if (setup) app.use(middleware(setup));
    app.get("/{*path}", (request, response) => {
      onRequest(request.get("user-agent"));
      response.set(RESPONSE_HEADERS).send(BODY);
    });
    return portOf(app.listen(LOOPBACK.port, LOOPBACK.host));
  },

  fastify: async (setup, onRequest) => {
    const app = Fastify();
    if (setup === "nothing") app.addHook("onRequest", (_request, _reply, done) => done());
    else if (setup instanceof Set) addHooks(setup, app);
    else if (setup) await app.register(fastify.hedgerow, setup);
    app.get("/*", (request, reply) => {
      onRequest(request.headers["user-agent"]);
      reply.headers(RESPONSE_HEADERS).send(BODY);
    });
    await app.listen(LOOPBACK);
    return portOf(app.server);
  },

  hono: (setup, onRequest) => {
    const app = new Hono();
    if (setup === "nothing") app.use((_c, next) => next());
    else if (setup instanceof Set) app.use(honoMiddlewareOf(setup));
    else if (setup) app.use(hono.hedgerow(setup));
    app.get("*", (c) => {
      onRequest(c.req.header("user-agent"));
      return c.body(BODY, 200, RESPONSE_HEADERS);
    });
    const { host: hostname, port } = LOOPBACK;
    const server = serve({ fetch: app.fetch, hostname, port });
    return portOf(/** @type {import("node:net").Server} */ (server));
  },
};
