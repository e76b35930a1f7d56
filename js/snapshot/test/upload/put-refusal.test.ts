/** Servers that refuse a PUT while it is sent. */

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { refusalOf } from "../support/refusal.js";

const MIB = 2 ** 20;

/** How many bytes such servers read before they respond. */
const READ = 2 ** 18;

/** The most that a client sends before it waits for a response, headers included. */
const FIRST = MIB;

const path = temporaryFolder();
let server: Server;
let received: number[] = [];

beforeAll(async () => {
  writeFileSync(path("image"), noise("refused", 16 * MIB));
  server = createServer((socket) => void refuse(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(async () => {
  server.close();
  await once(server, "close");
});

/** Refuses an upload. A client that keeps sending loses the response, since the connection is reset. */
async function refuse(socket: Socket): Promise<void> {
  const number = received.push(0) - 1;
  socket.on("error", () => {});
  socket.once("data", () => socket.write("HTTP/1.1 100 Continue\r\n\r\n"));
  socket.on("data", ({ length }) => {
    received[number]! += length;
  });
  // The first attempt does not wait for a response, and sends as fast as the machine can.
  const awaited = number === 0 ? FIRST + 1 : READ;
  while (received[number]! < awaited && !socket.destroyed) await sleep(1);
  await sleep(100);
  if (received[number]! > FIRST) socket.resetAndDestroy();
  else socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
}

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;

test("reports the status of a refused PUT after a retry", async () => {
  received = [];
  const error = await refusalOf(createSnapshot(path("image"), url()), "ERR_TARGET");
  expect(error.status).toBe(403);
  expect(received.length).toBe(2);
});

test("reports a lost connection for a refused PUT without retries", async () => {
  received = [];
  const work = createSnapshot(path("image"), url(), { retries: 0 });
  const error = await refusalOf(work, "ERR_TARGET");
  expect(error.status).toBeUndefined();
  expect(error.message).toMatch(
    /^cannot write .*: (the connection was closed|.*ECONNRESET|.*EPIPE)/,
  );
  expect(received.length).toBe(1);
});

test("aborts while it waits for a refusal", async () => {
  received = [];
  const controller = new AbortController();
  const reason = new Error("the caller's own");
  const work = createSnapshot(path("image"), url(), { signal: controller.signal });
  const ended = expect(work).rejects.toBe(reason);
  await vi.waitUntil(() => (received[1] ?? 0) >= READ, { timeout: 10_000, interval: 1 });
  controller.abort(reason);
  await ended;
  expect(received.length).toBe(2);
});
