// A server in each framework, with an adapter or without. All do the same: they look at one field of the
// request, and answer.
import { createServer } from "node:http";

import { serve } from "@hono/node-server";
import express from "express";
import Fastify from "fastify";
import * as connect from "hedgerow/connect";
import * as fastify from "hedgerow/fastify";
import * as hono from "hedgerow/hono";
import { Hono } from "hono";

import { BODY, RESPONSE_HEADERS } from "./messages.mjs";

/** @typedef {import("./messages.mjs").Added} Added */

/** Starts a server, and tells where it listens. @typedef {(added: Added, onRequest: (agent: unknown) => void) => Promise<number>} Start */

const LOOPBACK = { host: "127.0.0.1", port: 0 };

/** @param {import("node:net").Server} server @returns {Promise<number>} */
const portOf = (server) =>
  new Promise((resolve) => {
    const tell = () =>
      resolve(/** @type {import("node:net").AddressInfo} */ (server.address()).port);
    if (server.listening) tell();
    else server.once("listening", tell);
  });

/** What Connect and Express are given. @param {Exclude<Added, undefined>} added @returns {connect.ConnectMiddleware} */
const middleware = (added) =>
  added === "nothing" ? (_request, _response, next) => next() : connect.hedgerow(added);

/** @type {Record<string, Start>} */
export const FRAMEWORKS = {
  "node:http": (added, onRequest) => {
    /** @type {import("node:http").RequestListener} */
    const answer = (request, response) => {
      onRequest(request.headers["user-agent"]);
      response.writeHead(200, RESPONSE_HEADERS);
      response.end(BODY);
    };
    const first = added && middleware(added);
    const server = first
      ? createServer((request, response) =>
          first(request, response, () => answer(request, response)),
        )
      : createServer(answer);
    return portOf(server.listen(LOOPBACK));
  },

  express: (added, onRequest) => {
    const app = express();
    if (added) app.use(middleware(added));
    app.get("/{*path}", (request, response) => {
      onRequest(request.get("user-agent"));
      response.set(RESPONSE_HEADERS).send(BODY);
    });
    return portOf(app.listen(LOOPBACK.port, LOOPBACK.host));
  },

  fastify: async (added, onRequest) => {
    const app = Fastify();
    if (added === "nothing") app.addHook("onRequest", (_request, _reply, done) => done());
    else if (added) await app.register(fastify.hedgerow, added);
    app.get("/*", (request, reply) => {
      onRequest(request.headers["user-agent"]);
      reply.headers(RESPONSE_HEADERS).send(BODY);
    });
    await app.listen(LOOPBACK);
    return portOf(app.server);
  },

  hono: (added, onRequest) => {
    const app = new Hono();
    if (added === "nothing") app.use((_c, next) => next());
    else if (added) app.use(hono.hedgerow(added));
    app.get("*", (c) => {
      onRequest(c.req.header("user-agent"));
      return c.body(BODY, 200, RESPONSE_HEADERS);
    });
    const { host: hostname, port } = LOOPBACK;
    const server = serve({ fetch: app.fetch, hostname, port });
    return portOf(/** @type {import("node:net").Server} */ (server));
  },
};
