/** Adapters with the features of workerd: immutable messages, WebSockets, other events. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { ask } from "../../support/http/client.js";
import { digestOf } from "../../support/http/content.js";
import { startDirectWorker } from "../../support/http/direct-worker.js";
import { closed, listening } from "../../support/http/listen.js";

const FORGED = ["X-Internal-User", "root", "x-DEBUG", "1", "x-kept", "1"];

let origin: Server;
let arrived: IncomingMessage;

beforeAll(async () => {
  origin = createServer((request, response) => {
    arrived = request;
    response.setHeader("X-Kept", "1");
    if (!request.url!.includes("/clean/")) response.setHeader("x-debug", "1");
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    const status = Number(request.url!.split("/").at(-1));
    response.statusCode = status;
    if (request.url!.includes("/reason/")) response.statusMessage = "Caf\u00e9";
    response.end(status === 200 || request.url!.includes("/body/") ? "body" : undefined);
  });
  const sockets = new WebSocketServer({ server: origin });
  sockets.on("headers", (headers, request) => {
    arrived = request;
    headers.push("X-Debug: 1", "x-kept: 1");
  });
  sockets.on("connection", (socket) => {
    socket.on("message", (data) => socket.send(`${data}, from afar`));
  });
  await listening(origin);
});

afterAll(() => closed(origin));

describe.each(["worker", "hono"])("an adapter in workerd (%s)", (name) => {
  let worker: Miniflare;
  let url: URL;

  beforeAll(async () => {
    const entry = `tests/adapters/workerd/${name}.ts`;
    const { port } = origin.address() as { port: number };
    const behind = new URL(`http://127.0.0.1:${port}`);
    ({ worker, url } = await startDirectWorker(entry, {}, behind));
  });

  afterAll(() => worker?.dispose());

  test("strips internal fields from requests and responses", async () => {
    const { headers, rawHeaders, body } = await ask(url, {
      method: "POST",
      headers: FORGED,
      body: "a",
    });
    expect(JSON.parse(`${body}`)).toMatchObject({ body: "a" });
    expect(`${body}`).toContain("x-kept");
    expect(`${body}`).not.toMatch(/internal|debug/i);
    expect(headers).toMatchObject({ "x-kept": "1", "set-cookie": ["a=1", "b=2"] });
    expect(rawHeaders.join()).not.toMatch(/internal|debug/i);
  });

  test.each([200, 204, 301, 304, 404])(
    "strips a response of fetch with status %i",
    async (status) => {
      for (const method of ["GET", "HEAD"]) {
        const reply = await ask(url, { method, path: `/origin/${status}`, headers: FORGED });
        expect(reply.status).toBe(status);
        expect(`${reply.body}`).toBe(status === 200 && method === "GET" ? "body" : "");
        expect(reply.headers).toMatchObject({ "x-kept": "1", "set-cookie": ["a=1", "b=2"] });
        expect(reply.headers).not.toHaveProperty("x-debug");
        expect(arrived.headers).toMatchObject({ "x-kept": "1" });
        expect(arrived.rawHeaders.join()).not.toMatch(/internal|debug/i);
      }
    },
  );

  test.each([
    [205, "", 205],
    [599, "body", 599],
    [600, "body", 502],
    [999, "body", 502],
  ])("strips a response of fetch with the unusual status %i", async (sent, body, status) => {
    for (const method of ["GET", "HEAD"]) {
      const reply = await ask(url, { method, path: `/origin/body/${sent}` });
      expect([reply.status, `${reply.body}`]).toEqual([status, method === "GET" ? body : ""]);
      expect(reply.headers).toMatchObject({ "x-kept": "1", "set-cookie": ["a=1", "b=2"] });
      expect(reply.headers).not.toHaveProperty("x-debug");
    }
  });

  test("strips a response of fetch whose reason phrase is not ASCII", async () => {
    const reply = await ask(url, { path: "/origin/reason/body/200" });
    expect([reply.status, `${reply.body}`]).toEqual([200, "body"]);
    expect(reply.headers).toMatchObject({ "x-kept": "1" });
    expect(reply.headers).not.toHaveProperty("x-debug");
  });

  test("keeps the status of a response of fetch that it does not strip", async () => {
    const reply = await ask(url, { path: "/origin/clean/body/999" });
    expect([reply.status, `${reply.body}`, reply.headers["x-kept"]]).toEqual([999, "body", "1"]);
  });

  test("keeps redirects and empty responses", async () => {
    const redirect = await ask(url, { path: "/redirect", headers: FORGED });
    expect([redirect.status, redirect.headers.location]).toEqual([
      303,
      "http://localhost/elsewhere",
    ]);
    const empty = await ask(url, { path: "/204", headers: FORGED });
    expect([empty.status, empty.body.length, empty.headers["x-kept"]]).toEqual([204, 0, "1"]);
    expect(empty.headers).not.toHaveProperty("x-internal-node");
  });

  test("passes bodies of 20 MiB unchanged", async () => {
    const bytes = randomBytes(20 * 2 ** 20);
    for (const framing of [
      ["Transfer-Encoding", "chunked"],
      ["Content-Length", `${bytes.length}`],
    ]) {
      const headers = [...FORGED, ...framing];
      const { body } = await ask(url, { method: "PUT", path: "/mirror", headers, body: bytes });
      expect(await digestOf(body)).toBe(await digestOf(bytes));
    }
  });

  test.each([
    ["of the handler", "/socket", "hello, with x-kept"],
    ["of the origin", "/origin/socket", "hello, from afar"],
  ])("opens a WebSocket %s, and strips its response", async (_whose, path, heard) => {
    const headers = { "X-Internal-User": "root", "x-kept": "1" };
    const client = new WebSocket(new URL(path, url.href.replace("http", "ws")), { headers });
    const opened = once(client, "open");
    const [answer] = (await once(client, "upgrade")) as [IncomingMessage];
    expect(answer.headers).toMatchObject({ "x-kept": "1" });
    expect(answer.headers).not.toHaveProperty("x-debug");
    await opened;
    client.send("hello");
    const [data] = await once(client, "message");
    expect(`${data}`).toBe(heard);
    client.close();
    await once(client, "close");
  });

  test("answers 404 for an absent path", async () => {
    expect((await ask(url, { path: "/absent?a", headers: FORGED })).status).toBe(404);
    const { status, body } = await ask(url, { method: "HEAD", path: "/absent" });
    expect([status, body.length]).toEqual([404, 0]);
  });

  test("keeps concurrent requests apart", async () => {
    const checks = Array.from({ length: 200 }, async (_, number) => {
      const headers = ["x-number", `${number}`, `x-internal-${number}`, `${number}`];
      const { body } = await ask(url, { headers });
      const { shown } = JSON.parse(`${body}`);
      const own = shown.filter((field: unknown) => `${field}`.startsWith("x-"));
      expect(own).toEqual([
        ["x-number", `${number}`],
        ["x-number", `${number}`],
      ]);
    });
    await Promise.all(checks);
  });
});

test("other events reach the methods of a handler's class", async () => {
  const { worker, url } = await startDirectWorker(
    "tests/adapters/workerd/worker.ts",
    {},
    new URL("http://a"),
  );
  // The repository does not use the types of Workers.
  const fetcher = (await worker.getWorker()) as unknown as {
    scheduled(event: { cron: string }): Promise<unknown>;
  };
  await fetcher.scheduled({ cron: "7 * * * *" });
  expect(JSON.parse(`${(await ask(url, { path: "/scheduled" })).body}`)).toEqual(["7 * * * *"]);
  await worker.dispose();
});
