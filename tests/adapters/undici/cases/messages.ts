/** Bodies, hints and trailers, aborted and concurrent requests. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { RequestListener } from "node:http";
import { Readable } from "node:stream";
import { digestOf } from "../../../support/http/content.js";
import { echo, FORGED, RULES, type UndiciCases, withClient } from "../client.js";

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
