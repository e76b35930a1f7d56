/** Every API of undici sends and receives stripped messages. */
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { hedgerow } from "hedgerow/undici";
import { closed, serve } from "../../../support/http/listen.js";
import { assertStripped, echo, FORGED, RULES, type UndiciCases, withClient } from "../client.js";

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
