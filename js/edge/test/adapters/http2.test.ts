/** Adapters in front of Node's HTTP/2 servers, through their API of `node:http`. */
import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { text } from "node:stream/consumers";
import { getRequestListener } from "@hono/node-server";
import Fastify from "fastify";
import { HeaderStripper, PathSet } from "hedgerow";
import { type ConnectOptions, hedgerow, stripResponse } from "hedgerow/connect";
import { hedgerow as plugin } from "hedgerow/fastify";
import { hedgerow as middleware } from "hedgerow/hono";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { listening } from "../../../../tests/support/http/listen.js";

const RULES = ["x-internal-*", "x-debug"];

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

interface Reply {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Runs `use` with a client of a server whose `handler` is behind the middleware. */
async function behind(
  options: ConnectOptions,
  handler: Handler,
  use: (ask: (headers: OutgoingHttpHeaders) => Promise<Reply>) => Promise<void>,
): Promise<void> {
  const guard = hedgerow(options);
  const server = createServer((request, response) =>
    guard(request as never, response as never, () => handler(request, response)),
  );
  const url = await listening(server);
  const session = connect(url);
  try {
    await use((headers) => ask(session, headers));
  } finally {
    session.close();
    server.close();
  }
}

async function ask(session: ClientHttp2Session, sent: OutgoingHttpHeaders): Promise<Reply> {
  const stream = session.request(sent);
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
  return { headers, body: await text(stream) };
}

test("hedgerow/connect on HTTP/2 strips requests, and keeps their pseudo-fields", async () => {
  const echo: Handler = ({ headers, rawHeaders, url, method, authority }, response) => {
    response.end(JSON.stringify({ headers, rawHeaders, url, method, authority }));
  };
  await behind({ headers: RULES }, echo, async (ask) => {
    const forged = { "x-internal-user": "root", "X-DEBUG": ["1", "2"], "x-kept": "1" };
    const { body } = await ask({ ":path": "/a", cookie: "a=1", ...forged });
    const { headers, rawHeaders, url, method, authority } = JSON.parse(body);
    expect([url, method]).toEqual(["/a", "GET"]);
    expect(headers).toMatchObject({ ":path": "/a", ":authority": authority, "x-kept": "1" });
    expect(rawHeaders).toEqual(expect.arrayContaining([":path", "/a", "x-kept", "1", "cookie"]));
    expect(body).not.toMatch(/internal|debug/i);
  });
});

const WAYS: Record<string, Handler> = {
  "set one by one": (_request, response) => {
    response.setHeader("x-debug", "1");
    response.setHeader("x-internal-a", ["1", "2"]);
    response.setHeader("x-kept", "1");
    response.end("body");
  },
  "set one by one, without a body": (_request, response) => {
    response.setHeader("x-debug", "1");
    response.setHeader("x-kept", "1");
    response.end();
  },
  "in an object": (_request, response) => {
    response.writeHead(200, { "x-debug": "1", "X-Internal-a": "1", "x-kept": "1" });
    response.end("body");
  },
  "in an object, after a reason": (_request, response) => {
    response.writeHead(200, "Fine", { "x-debug": "1", "x-kept": "1" });
    response.end();
  },
  "set and flushed": (_request, response) => {
    response.setHeader("x-debug", "1");
    response.setHeader("x-kept", "1");
    // Missing from Node's types.
    (response as unknown as { flushHeaders(): void }).flushHeaders();
    response.end("body");
  },
  "set, in an answer of 204": (_request, response) => {
    response.statusCode = 204;
    response.setHeader("x-debug", "1");
    response.setHeader("x-kept", "1");
    response.end();
  },
};

test.each(Object.entries(WAYS))(
  "hedgerow/connect on HTTP/2 strips fields that are %s",
  async (_way, handler) => {
    await behind({ headers: RULES }, handler, async (ask) => {
      for (const method of ["GET", "HEAD"]) {
        const { headers } = await ask({ ":method": method });
        expect(headers["x-kept"]).toBe("1");
        expect(Object.keys(headers).join()).not.toMatch(/internal|debug/);
      }
    });
  },
);

test("hedgerow/connect on HTTP/2 answers 404 only for absent paths", async () => {
  const there: Handler = (_request, response) => void response.end("there");
  for (const paths of [new PathSet(["/a"]), async (path: string) => path === "/a"]) {
    await behind({ paths, headers: RULES }, there, async (ask) => {
      expect((await ask({ ":path": "/a?b" })).body).toBe("there");
      const { headers, body } = await ask({ ":path": "/b" });
      expect([headers[":status"], body]).toEqual([404, "Not Found\n"]);
      const head = await ask({ ":path": "/b", ":method": "HEAD" });
      expect([head.headers[":status"], head.body]).toEqual([404, ""]);
    });
  }
});

const LISTENERS: Record<string, (paths: PathSet) => Promise<Handler>> = {
  "hedgerow/connect": async (paths) => {
    const guard = hedgerow({ paths });
    return (request, response) => guard(request as never, response as never, () => response.end());
  },
  "hedgerow/fastify": async (paths) => {
    const app = Fastify({ http2: true });
    await app.register(plugin, { paths });
    app.get("/*", (_request, reply) => reply.send());
    await app.ready();
    return (request, response) => app.routing(request as never, response as never);
  },
  "hedgerow/hono": async (paths) => {
    const app = new Hono().use(middleware({ paths })).get("*", (c) => c.body(null));
    return getRequestListener(app.fetch) as never;
  },
};

test.each(Object.entries(LISTENERS))(
  "%s on HTTP/2 looks up a path with bytes outside ASCII like an encoded one",
  async (_name, listener) => {
    const server = createServer(await listener(new PathSet(["/caf\u00e9", "/%E9"])));
    const session = connect(await listening(server));
    try {
      const statuses: unknown[] = [];
      // The client sends each character as a byte.
      for (const path of ["/caf%C3%A9?a", "/caf\u00c3\u00a9?\u00e9", "/\u00e9", "/caf\u00e9"]) {
        statuses.push((await ask(session, { ":path": path })).headers[":status"]);
      }
      expect(statuses).toEqual([200, 200, 200, 404]);
    } finally {
      session.close();
      server.close();
    }
  },
);

test("stripResponse adds no method to the stream of a platform that lacks it", () => {
  const stream = { respond: (headers: object) => headers };
  const response = { writeHead() {}, stream };
  using stripper = new HeaderStripper(RULES);
  stripResponse(stripper, response as never);
  expect(Object.keys(stream)).toEqual(["respond"]);
  expect(stream.respond({ "x-debug": "1", "x-kept": "1" })).toEqual({ "x-kept": "1" });
});
