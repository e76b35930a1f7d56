/** Proxies that strip requests and forward them in all common ways. */
import { createServer, request as forward, type IncomingMessage, type Server } from "node:http";
import { createServer as createSocketServer, connect as openSocket } from "node:net";
import { Readable } from "node:stream";
import httpProxy from "@fastify/http-proxy";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import expressHttpProxy from "express-http-proxy";
import Fastify from "fastify";
import { HeaderStripper } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { hedgerow } from "hedgerow/connect";
import { hedgerow as plugin } from "hedgerow/fastify";
import { hedgerow as forHono } from "hedgerow/hono";
import { hedgerow as interceptor } from "hedgerow/undici";
import { hedgerow as wrapper } from "hedgerow/workers";
import { Hono } from "hono";
import oldHttpProxy from "http-proxy";
import { createProxyMiddleware } from "http-proxy-middleware";
import { Agent, request as undiciRequest } from "undici";
import { startDirectWorker } from "../../support/http/direct-worker.js";
import { closed, listening } from "../../support/http/listen.js";

const SILENT = { info() {}, warn() {}, error() {} };

/** A running proxy. */
export interface Running {
  readonly url: URL;
  close(): Promise<unknown>;
}

/** Starts a proxy in front of an origin that strips requests by the given rules. */
export type Start = (headers: readonly string[], origin: URL) => Promise<Running>;

async function running(server: Server, close: () => unknown = () => {}): Promise<Running> {
  const url = await listening(server);
  return { url, close: async () => [await closed(server), await close()] };
}

/** Returns a server whose listener is behind the middleware. */
function guarded(
  headers: readonly string[],
  listener: Parameters<typeof createServer>[1] & {},
): Server {
  const guard = hedgerow({ headers });
  return createServer((request, response) =>
    guard(request, response, () => listener(request, response as never)),
  );
}

/** Fields that undici and `fetch` set themselves, and refuse from callers. */
const CLIENT_FIELDS = ["connection", "keep-alive", "transfer-encoding", "upgrade", "expect"];

function forClient({ rawHeaders }: IncomingMessage): [string, string][] {
  const fields: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (!CLIENT_FIELDS.includes(name.toLowerCase())) fields.push([name, rawHeaders[index + 1]!]);
  }
  return fields;
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

/** Returns a Fetch handler that forwards requests to an origin. */
const fetching = (origin: URL) => async (request: Request) => {
  const { pathname } = new URL(request.url);
  const headers = new Headers(request.headers);
  for (const name of [...CLIENT_FIELDS, "content-length"]) headers.delete(name);
  const { method, body } = request;
  const init = { method, headers, body, duplex: "half", redirect: "manual" } as RequestInit;
  return fetch(new URL(pathname, origin), init);
};

export const PROXIES: Readonly<Record<string, Start>> = {
  "node:http": (headers, origin) =>
    running(
      guarded(headers, (request, response) => {
        const { method, url, headers } = request;
        const outgoing = forward(new URL(url!, origin), { method: method!, headers });
        outgoing.on("response", (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
        });
        outgoing.on("error", () => response.destroy());
        request.pipe(outgoing);
      }),
    ),

  "undici.request": (headers, origin) =>
    running(
      guarded(headers, async (request, response) => {
        const { statusCode, body } = await undiciRequest(new URL(request.url!, origin), {
          method: request.method! as "GET",
          headers: forClient(request).flat(),
          body: hasBody(request) ? request : null,
        });
        response.writeHead(statusCode);
        body.pipe(response);
      }),
    ),

  fetch: (headers, origin) => {
    const send = fetching(origin);
    return running(
      guarded(headers, async (request, response) => {
        const { method, url } = request;
        const isEmpty = method === "GET" || method === "HEAD" || !hasBody(request);
        const answer = await send(
          new Request(new URL(url!, origin), {
            method: method!,
            headers: forClient(request),
            ...(isEmpty ? {} : { body: Readable.toWeb(request) as ReadableStream, duplex: "half" }),
          } as RequestInit),
        );
        response.writeHead(answer.status);
        response.end(await answer.text());
      }),
    );
  },

  "http-proxy": (headers, origin) => {
    const proxy = oldHttpProxy.createProxyServer({ target: origin.href });
    proxy.on("error", (_error, _request, response) => response.destroy());
    return running(guarded(headers, (request, response) => proxy.web(request, response)));
  },

  "http-proxy-middleware": (headers, origin) => {
    const app = express().use(hedgerow({ headers }));
    app.use(createProxyMiddleware({ target: origin.href, logger: SILENT }));
    return running(createServer(app));
  },

  "express-http-proxy": (headers, origin) =>
    running(createServer(express().use(hedgerow({ headers }), expressHttpProxy(origin.href)))),

  "@fastify/http-proxy": async (headers, origin) => {
    const app = Fastify();
    await app.register(plugin, { headers });
    await app.register(httpProxy, { upstream: origin.href });
    const url = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
    return { url, close: () => app.close() };
  },

  "hono and fetch": (headers, origin) => {
    const app = new Hono().use(forHono({ headers }));
    const send = fetching(origin);
    app.all("/*", (c) => send(c.req.raw));
    return running(createServer(getRequestListener(app.fetch)));
  },

  "hedgerow/workers and fetch, on Node": (headers, origin) => {
    const worker = wrapper({ headers }, { fetch: fetching(origin) });
    return running(createServer(getRequestListener((request) => worker.fetch(request))));
  },

  "hedgerow/workers in workerd": async (headers, origin) => {
    const OPTIONS = { headers } as never;
    const entry = "tests/adapters/workerd/proxy-worker.ts";
    const { worker, url } = await startDirectWorker(entry, { OPTIONS }, origin);
    return { url, close: () => worker.dispose() };
  },

  "hedgerow/undici": (headers, origin) => {
    const agent = new Agent();
    const dispatcher = agent.compose(interceptor({ headers }));
    const server = createServer(async (request, response) => {
      try {
        const { method, rawHeaders } = request;
        const { statusCode, body } = await undiciRequest(new URL(request.url!, origin), {
          ...{ dispatcher, method: method! as "GET", body: hasBody(request) ? request : null },
          headers: rawHeaders.filter(
            (_, index) => rawHeaders[index & ~1]!.toLowerCase() !== "transfer-encoding",
          ),
        });
        response.writeHead(statusCode);
        body.pipe(response);
      } catch (error) {
        const isRefused = (error as { code?: string }).code === "ERR_CONNECTION_OPTION";
        response.shouldKeepAlive = false;
        response.writeHead(isRefused ? 400 : 502).end();
      }
    });
    return running(server, () => agent.close());
  },

  "a socket and stripBlock": async (headers, origin) => {
    const stripper = new HeaderStripper(headers);
    const server = createSocketServer((client) => {
      client.on("error", () => client.destroy());
      client.once("data", (first) => {
        // The first chunk of a test request contains the whole head.
        const end = first.indexOf("\r\n\r\n") + 4;
        const line = first.indexOf("\r\n") + 2;
        try {
          const block = stripBlock(stripper, first.subarray(line, end));
          const upstream = openSocket(Number(origin.port), origin.hostname);
          upstream.write(Buffer.concat([first.subarray(0, line), block, first.subarray(end)]));
          client.pipe(upstream).pipe(client);
          upstream.on("error", () => client.destroy());
          client.on("close", () => upstream.destroy());
        } catch {
          client.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
      });
    });
    return { url: await listening(server), close: () => closed(server) };
  },
};
