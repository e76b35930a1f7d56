/** Upgrades on Node's servers, which go past middleware: `stripRequest` is for these. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { HeaderStripper } from "hedgerow";
import { stripRequest } from "hedgerow/connect";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { closed, serve } from "../../../../tests/support/http/listen.js";

test("a WebSocket is opened by a request that was stripped", async () => {
  const internal = new HeaderStripper(["x-internal-*"]);
  const { server, url } = await serve(() => {});
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    expect(stripRequest(internal, request)).toBe(2);
    sockets.handleUpgrade(request, socket, head, (opened) =>
      sockets.emit("connection", opened, request),
    );
  });
  const connected = once(sockets, "connection") as Promise<[WebSocket, IncomingMessage]>;
  const headers = { "X-Internal-User": "root", "x-internal-a": "1", "x-kept": "1" };
  const client = new WebSocket(url.href.replace("http", "ws"), { headers });
  const [opened, { headers: arrived }] = await connected;
  expect(arrived["x-kept"]).toBe("1");
  expect(Object.keys(arrived).join()).not.toContain("internal");
  opened.on("message", (data) => opened.send(`${data}, twice`));
  await once(client, "open");
  client.send("once");
  const [answer] = await once(client, "message");
  expect(`${answer}`).toBe("once, twice");
  client.close();
  await once(opened, "close");
  await closed(server);
});
