/** Upgrades on Node's servers, which bypass middleware and are stripped with `stripRequest`. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { HeaderStripper, preset } from "hedgerow";
import { stripRequest } from "hedgerow/connect";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { ask } from "../../../../tests/support/http/client.js";
import { closed, serve } from "../../../../tests/support/http/listen.js";

test("stripRequest strips a request that opens a WebSocket", async () => {
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

test("an upgrade stripped of hop-by-hop fields keeps Upgrade, and no other nomination", async () => {
  const hopByHop = new HeaderStripper(preset("hop-by-hop"));
  const { server, url } = await serve(() => {});
  const upgraded = once(server, "upgrade") as Promise<[IncomingMessage, Socket]>;
  const client = connect(Number(url.port), url.hostname);
  const fields = ["Host: a", "Connection: x-hop, Upgrade", "Upgrade: websocket", "X-Hop: 1"];
  client.write(`GET / HTTP/1.1\r\n${fields.join("\r\n")}\r\nKeep-Alive: 1\r\n\r\n`);
  const [request, socket] = await upgraded;
  expect(stripRequest(hopByHop, request)).toBe(3);
  expect(request.headers).toEqual({ host: "a", connection: "Upgrade", upgrade: "websocket" });
  const raw = ["Host", "a", "Upgrade", "websocket", "Connection", "Upgrade"];
  expect(request.rawHeaders).toEqual(raw);
  socket.destroy();
  client.destroy();
  await closed(server);
});

test("a request without an upgrade listener loses its Connection", async () => {
  const hopByHop = new HeaderStripper(preset("hop-by-hop"));
  const { server, url } = await serve((request, response) => {
    stripRequest(hopByHop, request);
    response.end(JSON.stringify(request.rawHeaders));
  });
  const headers = [
    "Connection",
    "Upgrade, HTTP2-Settings",
    "Upgrade",
    "h2c",
    "HTTP2-Settings",
    "a",
  ];
  const { body } = await ask(url, { headers });
  expect(JSON.parse(`${body}`)).toEqual(["Host", url.host, "Upgrade", "h2c"]);
  await closed(server);
});
