/** How the interceptor behaves: its handlers, every API of undici, and paths that cannot exist. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { PathSet } from "hedgerow";
import type { UndiciOptions } from "hedgerow/undici";
import { hedgerow } from "hedgerow/undici";
import type { Dispatcher } from "undici";
import { closed, serve } from "../../../support/http/listen.js";
import { assertStripped, echo, FORGED, RULES, type UndiciCases, withClient } from "../client.js";

/** Options under which every request passes, and which wrap handlers or delay the decision. */
const PASSING: readonly UndiciOptions[] = [
  { headers: RULES },
  { headers: RULES, paths: () => true },
  { headers: RULES, paths: async () => true },
];

/** Methods that undici 8 requires of a handler. */
const REQUIRED = ["onResponseStart", "onResponseData", "onResponseEnd", "onResponseError"];

type Dispatch = (dispatcher: Dispatcher, origin: string) => Promise<string>;

/** Asserts that the result of a request is the same with the interceptor as without it. */
function assertSame(undici: Parameters<UndiciCases[string]>[0], request: Dispatch): Promise<void> {
  const bare = new undici.Agent();
  const checks = PASSING.map((options) =>
    withClient(undici, options, echo, async ({ client, origin }) => {
      assert.equal(await request(client, origin), await request(bare, origin));
    }),
  );
  return Promise.all(checks).then(() => bare.destroy());
}

/** Dispatches a request to a handler that lacks a method. Returns the methods called, and how the request ended. */
function dispatch(dispatcher: Dispatcher, origin: string, missing?: string): Promise<string> {
  return new Promise((resolve) => {
    const called = new Set<string>();
    const end = (how: string) => resolve([...called, how].join());
    const all: Record<string, (...args: unknown[]) => void> = {
      onRequestStart() {},
      onBodySent() {},
      onRequestSent() {},
      onResponseStarted() {},
      onResponseStart() {},
      onResponseData: () => missing === "onResponseEnd" && end("data"),
      onResponseEnd: () => end("ended"),
      onResponseError: (_controller, error) => end(`${error}`),
    };
    const methods = Object.entries(all).filter(([name]) => name !== missing);
    const recording = methods.map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        called.add(name);
        method(...args);
      },
    ]);
    try {
      const request = { origin, path: "/", method: "PUT" as const, body: "sent" };
      dispatcher.dispatch(request, Object.fromEntries(recording));
    } catch (error) {
      end(`threw ${error}`);
    }
  });
}

/** Returns the status that `fetch` of this Node receives, or the reason of its failure, which comes at once. */
async function statusOf(dispatcher: Dispatcher, url: string): Promise<string> {
  const signal = AbortSignal.timeout(20_000);
  const options: RequestInit & { dispatcher: Dispatcher } = { dispatcher, signal };
  try {
    const response = await fetch(url, options);
    await response.arrayBuffer();
    return `${response.status}`;
  } catch (error) {
    return `${(error as Error).cause ?? error}`;
  }
}

export const handlers: UndiciCases = {
  "a handler receives every call that it receives without the interceptor": (undici) =>
    assertSame(undici, dispatch),

  "a handler that lacks a method is refused if it is refused without the interceptor": async (
    undici,
  ) => {
    for (const missing of REQUIRED) {
      await assertSame(undici, (dispatcher, origin) => dispatch(dispatcher, origin, missing));
    }
  },

  "fetch of a Node with another undici succeeds or fails as without the interceptor": (undici) =>
    assertSame(undici, statusOf),

  "fetch of a Node with another undici receives the 404 for an absent path, or fails as without the interceptor":
    async (undici) => {
      for (const paths of [() => false, async () => false]) {
        await withClient(undici, { paths }, echo, async ({ client, origin }) => {
          const bare = new undici.Agent();
          const without = await statusOf(bare, origin);
          assert.equal(await statusOf(client, origin), without === "200" ? "404" : without);
          await bare.destroy();
        });
      }
    },
};

export const apis: UndiciCases = {
  "request() sends and receives no internal fields": (undici) =>
    withClient(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      const { headers, body } = await client.request({
        ...{ origin, path: "/", method: "GET", headers: FORGED },
      });
      assertStripped(await body.text(), headers);
    }),

  "stream() sends and receives no internal fields": (undici) =>
    withClient(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      let received: Record<string, unknown> = {};
      let arrived = "";
      await client.stream({ origin, path: "/", method: "GET", headers: FORGED }, ({ headers }) => {
        received = headers;
        return new Writable({
          write(chunk, _encoding, done) {
            arrived += chunk;
            done();
          },
        });
      });
      assertStripped(arrived, received);
    }),

  "pipeline() sends and receives no internal fields": (undici) =>
    withClient(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      let received: Record<string, unknown> = {};
      const duplex = client.pipeline(
        { origin, path: "/", method: "PUT", headers: FORGED },
        ({ headers, body }) => {
          received = headers;
          return body;
        },
      );
      assertStripped(await text(duplex.end("sent")), received);
    }),

  "fetch() sends and receives no internal fields": (undici) =>
    withClient(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      const response = await undici.fetch(origin, { dispatcher: client, headers: FORGED });
      const { headers } = response;
      const received = { ...Object.fromEntries(headers), "set-cookie": headers.getSetCookie() };
      assertStripped(await response.text(), received);
    }),

  "upgrade() sends and receives no internal fields": async (undici) => {
    const { server, url } = await serve(() => {});
    let arrived: string[] = [];
    server.on("upgrade", (request: IncomingMessage, socket) => {
      arrived = request.rawHeaders;
      socket.write("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: talk\r\n");
      socket.end("X-Internal-Node: a7\r\nX-Kept: 2\r\n\r\nhello");
    });
    const agent = new undici.Agent();
    const client = agent.compose(hedgerow({ headers: RULES }));
    const { headers, socket } = await client.upgrade({
      ...{ origin: url.origin, path: "/", protocol: "talk", headers: FORGED },
    });
    assert.equal(headers["x-kept"], "2");
    assert.equal(headers["x-internal-node"], undefined);
    assert.ok(arrived.includes("x-kept") && !arrived.includes("X-Internal-User"));
    assert.equal(await text(socket), "hello");
    await agent.destroy();
    await closed(server);
  },
};

export const paths: UndiciCases = {
  "requests for absent paths are not sent, but answered with 404": async (undici) => {
    const sent: string[] = [];
    const listener: RequestListener = (request, response) => {
      sent.push(request.url!);
      response.end("there");
    };
    const known = new PathSet(["/a"]);
    const sources: UndiciOptions["paths"][] = [known, (path) => known.has(path)];
    for (const paths of [...sources, async (path: string) => known.has(path)]) {
      await withClient(undici, { paths: paths! }, listener, async ({ client, origin }) => {
        const present = await client.request({ origin, path: "/a?b", method: "GET" });
        assert.equal(await present.body.text(), "there");
        const absent = await client.request({ origin, path: "/b?/a", method: "GET" });
        assert.deepEqual([absent.statusCode, await absent.body.text()], [404, "Not Found\n"]);
        const head = await client.request({ origin, path: "/b", method: "HEAD" });
        assert.deepEqual([head.statusCode, await head.body.text()], [404, ""]);
        const fetched = await undici.fetch(`${origin}/b`, { dispatcher: client });
        assert.deepEqual([fetched.status, await fetched.text()], [404, "Not Found\n"]);
        const post = await client.request({ origin, path: "/b", method: "POST" });
        assert.equal(await post.body.text(), "there");
      });
    }
    assert.deepEqual(sent, Array(3).fill(["/a?b", "/b"]).flat());
  },

  "the body of a request that is not sent is destroyed": (undici) =>
    withClient(undici, { paths: new PathSet([]), methods: ["PUT"] }, echo, async (given) => {
      const { client, origin } = given;
      const body = Readable.from(["never read"]);
      const closed = once(body, "close");
      const response = await client.request({ origin, path: "/b", method: "PUT", body });
      assert.equal(response.statusCode, 404);
      await closed;
      await response.body.dump();
    }),

  "stream() and pipeline() receive the 404 for absent paths": (undici) =>
    withClient(undici, { paths: new PathSet([]) }, echo, async ({ client, origin }) => {
      const pieces: string[] = [];
      const request = { origin, path: "/b", method: "GET" as const };
      await client.stream(request, ({ statusCode }) => {
        assert.equal(statusCode, 404);
        return new Writable({
          write(chunk, _encoding, done) {
            pieces.push(`${chunk}`);
            done();
          },
        });
      });
      assert.deepEqual(pieces, ["Not Found\n"]);
      const duplex = client.pipeline(request, ({ statusCode, body }) => {
        assert.equal(statusCode, 404);
        return body;
      });
      assert.equal(await text(duplex.end()), "Not Found\n");
    }),

  "the 404 for an absent path has a type and a length, in every form of a response": (undici) =>
    withClient(undici, { paths: new PathSet([]) }, echo, async ({ client, origin }) => {
      const fields = ["content-type", "text/plain; charset=utf-8", "content-length", "10"];
      for (const responseHeaders of ["raw", null] as const) {
        const request = { origin, path: "/b", method: "GET" as const, responseHeaders };
        const { headers, body } = await client.request(request);
        await body.dump();
        assert.deepEqual(Array.isArray(headers) ? headers : Object.entries(headers).flat(), fields);
      }
      const { headers } = await undici.fetch(`${origin}/b`, { dispatcher: client });
      assert.deepEqual([...headers].flat().sort(), [...fields].sort());
    }),

  "a request passes and the error is reported if the path check fails": async (undici) => {
    const failure = new RangeError("no storage");
    const failing: UndiciOptions["paths"][] = [
      () => {
        throw failure;
      },
      () => Promise.reject(failure),
    ];
    for (const paths of failing) {
      const reported: unknown[] = [];
      const onError = (error: unknown, { path }: { path: string }) => reported.push(error, path);
      await withClient(undici, { paths: paths!, onError }, echo, async ({ client, origin }) => {
        const { statusCode, body } = await client.request({ origin, path: "/b?c", method: "GET" });
        await body.dump();
        assert.equal(statusCode, 200);
        assert.deepEqual(reported, [failure, "/b?c"]);
      });
      const onErrorThatThrows = () => {
        throw failure;
      };
      const options = { paths: paths!, onError: onErrorThatThrows };
      await withClient(undici, options, echo, async ({ client, origin }) => {
        await assert.rejects(client.request({ origin, path: "/b", method: "GET" }), failure);
        await assert.rejects(undici.fetch(origin, { dispatcher: client }));
      });
    }
  },
};
