/** Transfers whose event loop is blocked for longer than a time-out, while the server keeps sending. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
  type Timeouts,
} from "@hedgerow/snapshot";
import { beforeAll, expect, onTestFinished, test } from "vitest";

import { startOriginProcess } from "../../../../tests/support/origin-process.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { StepTimer } from "../../dist/http/step-timer.js";

const MIB = 2 ** 20;

/** How long the event loop is blocked, in milliseconds, and the time-outs that are shorter. */
const BLOCKED = 2_500;
const TIMEOUTS: Timeouts = { connect: 1_000, firstByte: 1_000, stall: 1_000 };

const path = temporaryFolder();

beforeAll(async () => {
  writeFileSync(path("image"), noise("image", 8 * MIB));
  await createSnapshot(path("image"), path("image.vhs"), { pieceSize: 4096 });
});

const never = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the event loop without using the processor. */
function block(milliseconds: number): void {
  Atomics.wait(never, 0, 0, milliseconds);
}

/** Waits until the server has received a request. */
async function untilRequested(server: { requestCount(): Promise<number> }): Promise<void> {
  while ((await server.requestCount()) === 0);
}

/** Serves the snapshot from another process, which is not blocked. */
async function serve(...options: string[]) {
  const server = await startOriginProcess(["--file", path("image.vhs"), ...options]);
  onTestFinished(() => server.close());
  return server;
}

test("reads the tail of a snapshot with one request although the event loop was blocked", async () => {
  const server = await serve("--bytes-per-second", String(MIB / 4));
  const reading = inspectSnapshot(new URL("/image.vhs", server.url), { timeouts: TIMEOUTS });
  await untilRequested(server);
  block(BLOCKED);
  await expect(reading).resolves.toMatchObject({ imageSize: 8 * MIB });
  expect(await server.requestCount()).toBe(1);
});

test("waits for the first byte although the event loop was blocked", async () => {
  const server = await serve("--first-byte", "500");
  const reading = inspectSnapshot(new URL("/image.vhs", server.url), { timeouts: TIMEOUTS });
  await untilRequested(server);
  block(BLOCKED);
  await reading;
  expect(await server.requestCount()).toBe(1);
});

test("uploads a snapshot with one request although the event loop was blocked", async () => {
  const server = await serve("--bytes-per-second", String(2 * MIB));
  const target = new URL("/new.vhs", server.url);
  // Bytes that the system holds are on their way long after the last was written.
  const timeouts = { ...TIMEOUTS, firstByte: 30_000 };
  const writing = createSnapshot(path("image"), target, { timeouts, level: 1 });
  await untilRequested(server);
  block(BLOCKED);
  await writing;
  expect(await server.requestCount()).toBe(1);
  await restoreSnapshot(target, path("restored"));
  expectSame(readFileSync(path("restored")), readFileSync(path("image")));
});

test("expires once, and in time, although the event loop was blocked again and again", async () => {
  const begun = performance.now();
  const messages: string[] = [];
  const timer = new StepTimer((message) => messages.push(message));
  timer.start(300, "progress");
  const blocking = setInterval(() => block(350), 10);
  while (messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  clearInterval(blocking);
  expect(messages).toEqual(["no progress within 300 ms"]);
  // One extension, each time late by one blocked turn.
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test("does not expire while steps make progress", async () => {
  const messages: string[] = [];
  const timer = new StepTimer((message) => messages.push(message));
  timer.start(200, "progress");
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    timer.refresh();
  }
  timer.stop();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(messages).toEqual([]);
});
