/** Fields are stripped in every form, by the rules of each interceptor. */
import assert from "node:assert/strict";
import { HeaderStripper } from "hedgerow";
import type { Dispatcher } from "undici";
import { assertStripped, echo, FORGED, RULES, type UndiciCases, withClient } from "../client.js";

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
