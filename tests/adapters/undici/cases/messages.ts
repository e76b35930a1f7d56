/** What arrives: bodies and errors, fields that are stripped, and fields that `Connection` nominates. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { RequestListener } from "node:http";
import { Readable } from "node:stream";
import { HeaderStripper, preset } from "hedgerow";
import type { Dispatcher } from "undici";
import { digestOf } from "../../../support/http/content.js";
import { assertStripped, echo, FORGED, RULES, type UndiciCases, withClient } from "../client.js";

export const messages: UndiciCases = {
  "the interceptor strips early hints, and keeps trailers": (undici) => {
    const hinting: RequestListener = (_request, response) => {
      response.writeEarlyHints({ link: "</a.css>; rel=preload", "x-internal-node": "a7" });
      response.writeHead(200, { trailer: "x-sum" });
      response.addTrailers({ "x-sum": "7" });
      response.end("all");
    };
    return withClient(undici, { headers: RULES }, hinting, async ({ client, origin }) => {
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

  "bodies of 20 MiB pass unchanged in both directions": async (undici) => {
    const bytes = randomBytes(20 * 2 ** 20);
    const digest = await digestOf(bytes);
    let arrived = "";
    const mirror: RequestListener = async (request, response) => {
      arrived = await digestOf(request);
      response.setHeader("x-internal-node", "a7");
      Readable.from([bytes]).pipe(response);
    };
    await withClient(undici, { headers: RULES }, mirror, async ({ client, origin }) => {
      for (const body of [bytes, Readable.from([bytes.subarray(0, 9), bytes.subarray(9)])]) {
        const response = await client.request({
          ...{ origin, path: "/", method: "PUT", headers: FORGED, body },
        });
        assert.equal(await digestOf(response.body), digest);
        assert.equal(arrived, digest);
      }
    });
  },

  "a request can be aborted before and after its response arrives": (undici) =>
    withClient(
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

  "concurrent requests do not exchange fields": (undici) =>
    withClient(undici, { headers: RULES }, echo, async ({ client, origin }) => {
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

export const fields: UndiciCases = {
  "the interceptor strips fields in every form that undici accepts": (undici) =>
    withClient(undici, { headers: RULES }, echo, async ({ client, origin }) => {
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
        const { headers: received, body } = await client.request(
          request as Dispatcher.RequestOptions,
        );
        assertStripped(await body.text(), received);
      }
    }),

  "the interceptor compares names in the form in which undici sends them": (undici) =>
    withClient(undici, { headers: ["x-token", "x-internal-*"] }, echo, async (given) => {
      const { client, origin } = given;
      const kept = ["x-kept", "1"];
      function* longer(): Generator<string[]> {
        yield ["x-kept", "1", "X-Internal-User"];
        yield ["x-internal-user", "root", "x-token"];
      }
      const forms = [
        [...kept, new String("x-token"), "1"],
        // undici accepts an array as a known name; the next item is its value, not a pair.
        [["accept"], "*/*", "x-token", "1", ...kept],
        [["x-internal-user"], "root", "x-token", "1", ...kept],
        // The Kelvin sign, whose lower case is an ASCII letter.
        { "X-TO\u212aEN": "1", "x-kept": "1" },
        [...kept, "x-to\u212aen", "1"],
        { " x-token": "1", "x-kept": "1" },
        longer(),
      ];
      for (const headers of forms) {
        const request = { origin, path: "/", method: "GET" as const, headers };
        const { headers: received, body } = await client.request(
          request as Dispatcher.RequestOptions,
        );
        const arrived = await body.text();
        assertStripped(arrived, received);
        assert.doesNotMatch(arrived, /x-to/i);
      }
    }),

  "undici refuses an iterable of anything but pairs": (undici) =>
    withClient(undici, { headers: RULES }, echo, async ({ client, origin }) => {
      const headers = new Set(["x-internal-user", "root"]) as never;
      await assert.rejects(client.request({ origin, path: "/", method: "GET", headers }), {
        code: "UND_ERR_INVALID_ARG",
      });
    }),

  "the interceptor keeps other fields in every form": (undici) =>
    withClient(undici, { headers: RULES }, echo, async ({ client, origin }) => {
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

  "the interceptor takes separate rules for requests and responses": async (undici) => {
    const stripper = new HeaderStripper(RULES);
    await withClient(
      undici,
      { headers: { requests: stripper } },
      echo,
      async ({ client, origin }) => {
        const { headers, body } = await client.request({
          ...{ origin, path: "/", method: "GET", headers: FORGED },
        });
        assert.equal(headers["x-internal-node"], "a7");
        assert.doesNotMatch(await body.text(), /internal/i);
      },
    );
    await withClient(
      undici,
      { headers: { responses: stripper } },
      echo,
      async ({ client, origin }) => {
        const { headers, body } = await client.request({
          ...{ origin, path: "/", method: "GET", headers: FORGED },
        });
        assert.equal(headers["x-internal-node"], undefined);
        assert.match(await body.text(), /X-Internal-User/);
      },
    );
  },

  "two interceptors strip the fields that either of them matches": (undici) =>
    withClient(
      undici,
      [{ headers: RULES }, { headers: ["x-other"] }],
      echo,
      async ({ client, origin }) => {
        const headers = { ...FORGED, "X-Other": "1" };
        const response = await client.request({ origin, path: "/", method: "GET", headers });
        const arrived = await response.body.text();
        assert.doesNotMatch(arrived, /other/i);
        assertStripped(arrived, response.headers);
      },
    ),
};

export const connection: UndiciCases = {
  "the interceptor strips the response fields that Connection nominates": (undici) => {
    const nominating: RequestListener = (_request, response) => {
      response.writeHead(200, ["Connection", "keep-alive, X-Hop", "X-Hop", "1", "X-End", "2"]);
      response.end();
    };
    return withClient(undici, { headers: preset("hop-by-hop") }, nominating, async (given) => {
      const { client, origin } = given;
      const { headers, body } = await client.request({ origin, path: "/", method: "GET" });
      await body.dump();
      assert.deepEqual([headers["x-hop"], headers["x-end"]], [undefined, "2"]);
    });
  },

  "a request that nominates a field for all recipients is not sent": (undici) =>
    withClient(undici, { headers: preset("hop-by-hop") }, echo, async ({ client, origin }) => {
      const headers = { connection: "close, authorization", authorization: "Bearer a" };
      const sent = client.request({ origin, path: "/", method: "GET", headers });
      await assert.rejects(sent, { code: "ERR_CONNECTION_OPTION" });
    }),

  "a response that nominates its framing keeps it, and is stripped otherwise": (undici) => {
    const nominating: RequestListener = (_request, response) => {
      const fields = ["Connection", "keep-alive, Content-Length", "Content-Length", "3"];
      response.writeHead(200, [...fields, "X-Internal-A", "1"]);
      response.end("all");
    };
    const headers = [...preset("hop-by-hop"), "x-internal-*"];
    return withClient(undici, { headers }, nominating, async ({ client, origin }) => {
      const { headers, body } = await client.request({ origin, path: "/", method: "GET" });
      assert.equal(await body.text(), "all");
      assert.deepEqual([headers["content-length"], headers["x-internal-a"]], ["3", undefined]);
    });
  },

  "the interceptor accepts a field without a value when it strips Connection": (undici) =>
    withClient(undici, { headers: preset("hop-by-hop") }, echo, async ({ client, origin }) => {
      const headers = { connection: "close", "x-kept": "1", "x-none": undefined };
      const { body } = await client.request({ origin, path: "/", method: "GET", headers });
      assert.match(await body.text(), /"x-kept","1"/);
    }),
};
