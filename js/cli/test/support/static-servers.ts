/** Static file servers, set up as their documentation says, with or without a guard in front. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, type RequestListener, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import { getRequestListener } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import express from "express";
import fastify, { type FastifyServerOptions } from "fastify";
import type { PathLookup } from "hedgerow";
import { hedgerow } from "hedgerow/connect";
import { hedgerow as middleware } from "hedgerow/hono";
import { Hono } from "hono";
import httpServer from "http-server";
import Koa from "koa";
import koaStatic from "koa-static";
import serveHandler from "serve-handler";
import serveStaticFiles from "serve-static";
import sirv from "sirv";
import { onTestFinished } from "vitest";

import { freePort } from "../../../../tests/support/http/listen.js";
import { runNginx } from "../../../../tests/support/tier/nginx.mjs";

/** Options of a guard. */
export interface Guard {
  readonly paths: PathLookup;
  readonly normalize: (path: string) => string;
}

type Middleware = (...args: [...Parameters<RequestListener>, next: () => void]) => unknown;
type StaticServer = (root: string) => RequestListener | Promise<RequestListener>;

const ending =
  (serve: Middleware): RequestListener =>
  (request, response) =>
    serve(request, response, () => response.writeHead(404).end());

const fastifyWith =
  (options: FastifyServerOptions, wildcard: boolean): StaticServer =>
  async (root) => {
    const server = fastify(options);
    await server.register(fastifyStatic, { root, wildcard });
    await server.ready();
    return (request, response) => server.routing(request, response);
  };

/** Starts nginx, and passes requests on to it as they are. */
const nginx: StaticServer = async (root) => {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-nginx-"));
  const [config, errors] = [join(folder, "nginx.conf"), join(folder, "errors")];
  const port = await freePort();
  writeFileSync(
    config,
    `user root; worker_processes 1; pid ${join(folder, "pid")};
     events {}
     http { access_log off; server { listen 127.0.0.1:${port}; root ${root}; } }`,
  );
  const stop = await runNginx({ config, errors, port });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(async () => {
    agent.destroy();
    await stop();
    rmSync(folder, { recursive: true });
  });
  return ({ url: path, headers }, response) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode!);
      answer.pipe(response);
    });
    sent.on("error", () => response.destroy()).end();
  };
};

const SERVERS = {
  "express.static": (root) => express().use(express.static(root)),
  "serve-static": (root) => ending(serveStaticFiles(root)),
  sirv: (root) => ending(sirv(root)),
  "sirv with `dev`": (root) => ending(sirv(root, { dev: true })),
  "http-server": (root) => {
    const { server } = httpServer.createServer({ root });
    return (request, response) => server.emit("request", request, response);
  },
  // It rejects if a file name is not a valid field value.
  "serve-handler": (root) => (request, response) =>
    serveHandler(request, response, { public: root }).catch(() => response.destroy()),
  "@fastify/static": fastifyWith({}, true),
  "@fastify/static with `useSemicolonDelimiter`": fastifyWith(
    { routerOptions: { useSemicolonDelimiter: true } as object },
    false,
  ),
  "@hono/node-server": (root) => getRequestListener(new Hono().use(serveStatic({ root })).fetch),
  "koa-static": (root) => {
    const server = new Koa();
    server.silent = true;
    return server.use(koaStatic(root)).callback();
  },
  nginx,
} satisfies Record<string, StaticServer>;

export type StaticServerName = keyof typeof SERVERS;

export const STATIC_SERVERS = Object.keys(SERVERS) as StaticServerName[];

/** Servers that read the folder at start, and the names that do not crash them. */
export const TAME: Partial<Record<StaticServerName, RegExp>> = {
  sirv: /(?:)/,
  // Each file becomes a route, in which these characters are special.
  "@fastify/static with `useSemicolonDelimiter`": /^[^*:%]+$/,
};

async function listenerOf(name: StaticServerName, root: string, guard: Guard | undefined) {
  if (guard === undefined) return SERVERS[name](root);
  if (name === "@hono/node-server") {
    const server = new Hono().use(middleware(guard)).use(serveStatic({ root }));
    return getRequestListener(server.fetch);
  }
  const [guarded, serve] = [hedgerow(guard), await SERVERS[name](root)];
  return ending((request, response) => guarded(request, response, () => serve(request, response)));
}

/**
 * Starts a server for a folder. Returns a function that requests a target as given, without resolving
 * or encoding it, and returns the status; 0 if the server breaks the connection. The server stops when
 * the test ends.
 */
export async function startStatic(name: StaticServerName, root: string, guard?: Guard) {
  const server = createServer(await listenerOf(name, root, guard)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const headers = { "accept-encoding": "gzip" };
  return async (path: string): Promise<number> => {
    const sent = request({ host: "127.0.0.1", port, path, agent, headers }).end();
    try {
      const [response] = await once(sent, "response");
      response.resume();
      await once(response, "end");
      return response.statusCode;
    } catch {
      return 0;
    }
  };
}
