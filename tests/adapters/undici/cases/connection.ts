/** Fields that `Connection` nominates. */
import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { preset } from "hedgerow";
import { echo, type UndiciCases, withClient } from "../client.js";

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
