/**
 * What the interceptor promises to clients of undici, whichever version of it: a test runs these in Node,
 * and a program runs them in another Node.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { HeaderStripper, PathSet, preset } from "hedgerow";
import { hedgerow, type UndiciOptions } from "hedgerow/undici";
import type { Dispatcher } from "undici";
import { digestOf } from "../../support/http/content.js";
import { closed, serve } from "../../support/http/listen.js";

export type Undici = typeof import("undici");

const RULES = ["x-internal-*"];
const FORGED = { "X-Internal-User": "root", "x-kept": "1" };

/** Answers with the fields that arrived, as they were written, among fields of which one is internal. */
const echo: RequestListener = (request, response) => {
  response.setHeader("X-Internal-Node", "a7");
  response.setHeader("set-cookie", ["a=1", "b=2"]);
  response.setHeader("x-kept", "2");
  response.end(JSON.stringify(request.rawHeaders));
};

interface Behind {
  client: Dispatcher;
  origin: string;
  undici: Undici;
}

/** Runs `use` with a client that has the interceptor, and an origin. */
async function behind(
  undici: Undici,
  options: UndiciOptions | UndiciOptions[],
  listener: RequestListener,
  use: (given: Behind) => Promise<void>,
): Promise<void> {
  const { server, url } = await serve(listener);
  const agent = new undici.Agent();
  const client = agent.compose(...[options].flat().map(hedgerow));
  try {
    await use({ client, origin: url.origin, undici });
  } finally {
    await agent.destroy();
    await closed(server);
  }
}

/** Asserts that what {@link echo} was sent, and what it answered, was stripped. */
function stripped(arrived: string, headers: Record<string, unknown>): void {
  assert.match(arrived, /"x-kept","1"/);
  assert.doesNotMatch(arrived, /internal/i);
  assert.equal(headers["x-kept"], "2");
  assert.equal(headers["x-internal-node"], undefined);
  assert.deepEqual(headers["set-cookie"], ["a=1", "b=2"]);
}

export const undiciCases: Record<string, (undici: Undici) => Promise<void>> = {
  "request neither sends nor gets what is internal": (undici) =>
    behind(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      const { headers, body } = await client.request({
        ...{ origin, path: "/", method: "GET", headers: FORGED },
      });
      stripped(await body.text(), headers);
    }),

  "stream neither sends nor gets what is internal": (undici) =>
    behind(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      let told: Record<string, unknown> = {};
      let arrived = "";
      await client.stream({ origin, path: "/", method: "GET", headers: FORGED }, ({ headers }) => {
        told = headers;
        return new Writable({
          write(chunk, _encoding, done) {
            arrived += chunk;
            done();
          },
        });
      });
      stripped(arrived, told);
    }),

  "pipeline neither sends nor gets what is internal": (undici) =>
    behind(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      let told: Record<string, unknown> = {};
      const duplex = client.pipeline(
        { origin, path: "/", method: "PUT", headers: FORGED },
        ({ headers, body }) => {
          told = headers;
          return body;
        },
      );
      stripped(await text(duplex.end("sent")), told);
    }),

  "fetch neither sends nor gets what is internal": (undici) =>
    behind(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      const response = await undici.fetch(origin, { dispatcher: client, headers: FORGED });
      const { headers } = response;
      const told = { ...Object.fromEntries(headers), "set-cookie": headers.getSetCookie() };
      stripped(await response.text(), told);
    }),

  "upgrade neither sends nor gets what is internal": async (undici) => {
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

  "fields are stripped in every form that undici takes": (undici) =>
    behind(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      function* once(): Generator<[string, string]> {
        yield ["X-Internal-User", "root"];
        yield ["x-kept", "1"];
      }
      const forms = [
        ["X-Internal-User", "root", "x-kept", "1"],
        new Map(Object.entries(FORGED)),
        new undici.Headers(FORGED),
        new Headers(FORGED),
        once(),
        { "x-internal-LIST": ["a", "b"], "x-kept": ["1"] },
      ];
      for (const headers of forms) {
        const request = { origin, path: "/", method: "GET" as const, headers };
        const { headers: told, body } = await client.request(request as Dispatcher.RequestOptions);
        stripped(await body.text(), told);
      }
    }),

  "names are compared as they are sent, whatever is written": (undici) =>
    behind(undici, { headers: ["x-token", "x-internal-*"] }, echo, async (given) => {
      const { client, origin } = given;
      const kept = ["x-kept", "1"];
      function* longer(): Generator<string[]> {
        yield ["x-kept", "1", "X-Internal-User"];
        yield ["x-internal-user", "root", "x-token"];
      }
      const forms = [
        [...kept, new String("x-token"), "1"],
        // A name that undici knows may be an object: what comes next is no pair.
        [["accept"], "*/*", "x-token", "1", ...kept],
        [["x-internal-user"], "root", "x-token", "1", ...kept],
        // The Kelvin sign, whose lower case is a letter of ASCII.
        { "X-TO\u212aEN": "1", "x-kept": "1" },
        [...kept, "x-to\u212aen", "1"],
        { " x-token": "1", "x-kept": "1" },
        longer(),
      ];
      for (const headers of forms) {
        const request = { origin, path: "/", method: "GET" as const, headers };
        const { headers: told, body } = await client.request(request as Dispatcher.RequestOptions);
        const arrived = await body.text();
        stripped(arrived, told);
        assert.doesNotMatch(arrived, /x-to/i);
      }
    }),

  "an iterable of other things than pairs is refused by undici": (undici) =>
    behind(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      const headers = new Set(["x-internal-user", "root"]) as never;
      await assert.rejects(client.request({ origin, path: "/", method: "GET", headers }), {
        code: "UND_ERR_INVALID_ARG",
      });
    }),

  "fields of which none is internal arrive in every form": (undici) =>
    behind(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      function* once(): Generator<[string, string]> {
        yield ["x-kept", "1"];
      }
      for (const headers of [
        ["x-kept", "1"],
        new Map([["x-kept", "1"]]),
        once(),
        { "x-kept": "1" },
      ]) {
        const { body } = await client.request({ origin, path: "/", method: "GET", headers });
        assert.match(await body.text(), /"x-kept","1"/);
      }
    }),

  "requests and responses have rules of their own": async (undici) => {
    const stripper = new HeaderStripper(RULES);
    await behind(undici, { headers: { requests: stripper } }, echo, async ({ client, origin }) => {
      const { headers, body } = await client.request({
        ...{ origin, path: "/", method: "GET", headers: FORGED },
      });
      assert.equal(headers["x-internal-node"], "a7");
      assert.doesNotMatch(await body.text(), /internal/i);
    });
    await behind(undici, { headers: { responses: stripper } }, echo, async ({ client, origin }) => {
      const { headers, body } = await client.request({
        ...{ origin, path: "/", method: "GET", headers: FORGED },
      });
      assert.equal(headers["x-internal-node"], undefined);
      assert.match(await body.text(), /X-Internal-User/);
    });
  },

  "two interceptors strip what either of them matches": (undici) =>
    behind(
      undici,
      [{ headers: RULES }, { headers: ["x-other"] }],
      echo,
      async ({ client, origin }) => {
        const headers = { ...FORGED, "X-Other": "1" };
        const response = await client.request({ origin, path: "/", method: "GET", headers });
        const arrived = await response.body.text();
        assert.doesNotMatch(arrived, /other/i);
        stripped(arrived, response.headers);
      },
    ),

  "what Connection nominates goes with it": (undici) => {
    const nominating: RequestListener = (_request, response) => {
      response.writeHead(200, ["Connection", "keep-alive, X-Hop", "X-Hop", "1", "X-End", "2"]);
      response.end();
    };
    return behind(undici, { headers: preset("hop-by-hop") }, nominating, async (given) => {
      const { client, origin } = given;
      const { headers, body } = await client.request({ origin, path: "/", method: "GET" });
      await body.dump();
      assert.deepEqual([headers["x-hop"], headers["x-end"]], [undefined, "2"]);
    });
  },

  "a request that nominates a field for all recipients is not sent": (undici) =>
    behind(undici, { headers: preset("hop-by-hop") }, echo, async ({ client, origin }) => {
      const headers = { connection: "close, authorization", authorization: "Bearer a" };
      const sent = client.request({ origin, path: "/", method: "GET", headers });
      await assert.rejects(sent, { code: "ERR_CONNECTION_OPTION" });
    }),

  "a response that nominates its framing keeps it, and loses what rules match": (undici) => {
    const nominating: RequestListener = (_request, response) => {
      const fields = ["Connection", "keep-alive, Content-Length", "Content-Length", "3"];
      response.writeHead(200, [...fields, "X-Internal-A", "1"]);
      response.end("all");
    };
    const headers = [...preset("hop-by-hop"), "x-internal-*"];
    return behind(undici, { headers }, nominating, async ({ client, origin }) => {
      const { headers, body } = await client.request({ origin, path: "/", method: "GET" });
      assert.equal(await body.text(), "all");
      assert.deepEqual([headers["content-length"], headers["x-internal-a"]], ["3", undefined]);
    });
  },

  "a field without a value is no error where Connection goes": (undici) =>
    behind(undici, { headers: preset("hop-by-hop") }, echo, async ({ client, origin }) => {
      const headers = { connection: "close", "x-kept": "1", "x-none": undefined };
      const { body } = await client.request({ origin, path: "/", method: "GET", headers });
      assert.match(await body.text(), /"x-kept","1"/);
    }),

  "hints lose what is internal, and trailers stay as they are": (undici) => {
    const hinting: RequestListener = (_request, response) => {
      response.writeEarlyHints({ link: "</a.css>; rel=preload", "x-internal-node": "a7" });
      response.writeHead(200, { trailer: "x-sum" });
      response.addTrailers({ "x-sum": "7" });
      response.end("all");
    };
    return behind(undici, { headers: RULES }, hinting, async ({ client, origin }) => {
      const hints: Record<string, unknown>[] = [];
      const { body, trailers } = await client.request({
        ...{ origin, path: "/", method: "GET" },
        onInfo: ({ headers }) => hints.push(headers),
      });
      assert.equal(await body.text(), "all");
      assert.equal(trailers["x-sum"], "7");
      assert.equal(hints[0]?.["x-internal-node"], undefined);
      assert.match(`${hints[0]?.link}`, /a\.css/);
    });
  },

  "bodies of 20 MiB are the same on both ends": async (undici) => {
    const bytes = randomBytes(20 * 2 ** 20);
    const digest = await digestOf(bytes);
    let arrived = "";
    const mirror: RequestListener = async (request, response) => {
      arrived = await digestOf(request);
      response.setHeader("x-internal-node", "a7");
      Readable.from([bytes]).pipe(response);
    };
    await behind(undici, { headers: RULES }, mirror, async ({ client, origin }) => {
      for (const body of [bytes, Readable.from([bytes.subarray(0, 9), bytes.subarray(9)])]) {
        const response = await client.request({
          ...{ origin, path: "/", method: "PUT", headers: FORGED, body },
        });
        assert.equal(await digestOf(response.body), digest);
        assert.equal(arrived, digest);
      }
    });
  },

  "nothing is sent for what does not exist": async (undici) => {
    const asked: string[] = [];
    const there: RequestListener = (request, response) => {
      asked.push(request.url!);
      response.end("there");
    };
    const known = new PathSet(["/a"]);
    const sources: UndiciOptions["paths"][] = [known, (path) => known.has(path)];
    for (const paths of [...sources, async (path: string) => known.has(path)]) {
      await behind(undici, { paths: paths! }, there, async ({ client, origin }) => {
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
    assert.deepEqual(asked, Array(3).fill(["/a?b", "/b"]).flat());
  },

  "the body of a request that is not sent is let go": (undici) =>
    behind(undici, { paths: new PathSet([]), methods: ["PUT"] }, echo, async (given) => {
      const { client, origin } = given;
      const body = Readable.from(["never read"]);
      const gone = once(body, "close");
      const response = await client.request({ origin, path: "/b", method: "PUT", body });
      assert.equal(response.statusCode, 404);
      await gone;
      await response.body.dump();
    }),

  "stream and pipeline get the answer to what does not exist": (undici) =>
    behind(undici, { paths: new PathSet([]) }, echo, async ({ client, origin }) => {
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

  "a request passes when paths cannot be asked, and that is reported": async (undici) => {
    const failure = new RangeError("no storage");
    const failing: UndiciOptions["paths"][] = [
      () => {
        throw failure;
      },
      () => Promise.reject(failure),
    ];
    for (const paths of failing) {
      const told: unknown[] = [];
      const onError = (error: unknown, { path }: { path: string }) => told.push(error, path);
      await behind(undici, { paths: paths!, onError }, echo, async ({ client, origin }) => {
        const { statusCode, body } = await client.request({ origin, path: "/b?c", method: "GET" });
        await body.dump();
        assert.equal(statusCode, 200);
        assert.deepEqual(told, [failure, "/b?c"]);
      });
      const onErrorThatThrows = () => {
        throw failure;
      };
      const options = { paths: paths!, onError: onErrorThatThrows };
      await behind(undici, options, echo, async ({ client, origin }) => {
        await assert.rejects(client.request({ origin, path: "/b", method: "GET" }), failure);
        await assert.rejects(undici.fetch(origin, { dispatcher: client }));
      });
    }
  },

  "a request that is aborted ends, before and after it was answered": (undici) =>
    behind(
      undici,
      { headers: RULES, paths: async () => true },
      (_request, response) => void response.write("a beginning"),
      async ({ client, origin }) => {
        const early = new AbortController();
        const { signal } = early;
        const refused = client.request({ origin, path: "/", method: "GET", signal });
        early.abort();
        await assert.rejects(refused, { name: "AbortError" });
        const late = new AbortController();
        const request = { origin, path: "/", method: "GET" as const, signal: late.signal };
        const { body } = await client.request(request);
        late.abort();
        await assert.rejects(body.text(), { name: "AbortError" });
      },
    ),

  "requests at the same time do not get the fields of each other": (undici) =>
    behind(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      const numbers = Array.from({ length: 300 }, (_, number) => `${number}`);
      const checks = numbers.map(async (number) => {
        const headers = { "x-internal-number": number, "x-number": number };
        const { body } = await client.request({ origin, path: "/", method: "GET", headers });
        const arrived = JSON.parse(await body.text()) as string[];
        const own = arrived.filter((_, index) => arrived[index - (index % 2)]!.startsWith("x-"));
        assert.deepEqual(own, ["x-number", number]);
      });
      await Promise.all(checks);
    }),
};
