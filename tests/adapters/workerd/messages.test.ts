/** What workerd has of its own, behind the adapters: immutable messages, WebSockets, other events. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { ask } from "../../support/http/ask.js";
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

describe.each(["worker", "hono"])("%s", (name) => {
  let worker: Miniflare;
  let url: URL;

  beforeAll(async () => {
    const entry = `tests/adapters/workerd/${name}.ts`;
    const { port } = origin.address() as { port: number };
    const behind = new URL(`http://127.0.0.1:${port}`);
    ({ worker, url } = await startDirectWorker(entry, {}, behind));
  });

  afterAll(() => worker?.dispose());

  test("a handler sees nothing internal, and its answer brings nothing internal", async () => {
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

  test.each([200, 204, 301, 304, 404])("an answer of fetch is stripped: %i", async (status) => {
    for (const method of ["GET", "HEAD"]) {
      const reply = await ask(url, { method, path: `/origin/${status}`, headers: FORGED });
      expect(reply.status).toBe(status);
      expect(`${reply.body}`).toBe(status === 200 && method === "GET" ? "body" : "");
      expect(reply.headers).toMatchObject({ "x-kept": "1", "set-cookie": ["a=1", "b=2"] });
      expect(reply.headers).not.toHaveProperty("x-debug");
      expect(arrived.headers).toMatchObject({ "x-kept": "1" });
      expect(arrived.rawHeaders.join()).not.toMatch(/internal|debug/i);
    }
  });

  test.each([
    [205, "", 205],
    [599, "body", 599],
    [600, "body", 502],
    [999, "body", 502],
  ])("an answer of fetch is stripped whose status is %i", async (sent, body, status) => {
    for (const method of ["GET", "HEAD"]) {
      const reply = await ask(url, { method, path: `/origin/body/${sent}` });
      expect([reply.status, `${reply.body}`]).toEqual([status, method === "GET" ? body : ""]);
      expect(reply.headers).toMatchObject({ "x-kept": "1", "set-cookie": ["a=1", "b=2"] });
      expect(reply.headers).not.toHaveProperty("x-debug");
    }
  });

  test("an answer of fetch is stripped whose reason is not of ASCII", async () => {
    const reply = await ask(url, { path: "/origin/reason/body/200" });
    expect([reply.status, `${reply.body}`]).toEqual([200, "body"]);
    expect(reply.headers).toMatchObject({ "x-kept": "1" });
    expect(reply.headers).not.toHaveProperty("x-debug");
  });

  test("an answer of fetch of which nothing goes keeps its status", async () => {
    const reply = await ask(url, { path: "/origin/clean/body/999" });
    expect([reply.status, `${reply.body}`, reply.headers["x-kept"]]).toEqual([999, "body", "1"]);
  });

  test("a redirect and an answer without a body stay what they are", async () => {
    const redirect = await ask(url, { path: "/redirect", headers: FORGED });
    expect([redirect.status, redirect.headers.location]).toEqual([
      303,
      "http://localhost/elsewhere",
    ]);
    const empty = await ask(url, { path: "/204", headers: FORGED });
    expect([empty.status, empty.body.length, empty.headers["x-kept"]]).toEqual([204, 0, "1"]);
    expect(empty.headers).not.toHaveProperty("x-internal-node");
  });

  test("bodies of 20 MiB pass through as they are", async () => {
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
    ["of its own", "/socket", "hello, with x-kept"],
    ["of the origin", "/origin/socket", "hello, from afar"],
  ])("a WebSocket %s is opened, and its answer is stripped", async (_whose, path, heard) => {
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

  test("what does not exist is answered with 404", async () => {
    expect((await ask(url, { path: "/absent?a", headers: FORGED })).status).toBe(404);
    const { status, body } = await ask(url, { method: "HEAD", path: "/absent" });
    expect([status, body.length]).toEqual([404, 0]);
  });

  test("requests at the same time do not get the fields of each other", async () => {
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

test("other events reach what a handler has of its class", async () => {
  const { worker, url } = await startDirectWorker(
    "tests/adapters/workerd/worker.ts",
    {},
    new URL("http://a"),
  );
  // The types of this repository are not those of Workers.
  const fetcher = (await worker.getWorker()) as unknown as {
    scheduled(event: { cron: string }): Promise<unknown>;
  };
  await fetcher.scheduled({ cron: "7 * * * *" });
  expect(JSON.parse(`${(await ask(url, { path: "/scheduled" })).body}`)).toEqual(["7 * * * *"]);
  await worker.dispose();
});
