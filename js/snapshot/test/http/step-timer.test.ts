/** Transfers whose event loop is blocked for longer than a time-out, while the server keeps sending. */
import { readFileSync, writeFileSync } from "node:fs";
import { createSnapshot, restoreSnapshot, type Timeouts } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, type TestContext, test } from "vitest";

import { startOriginProcess } from "../../../../tests/support/origin-process.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { StepTimer } from "../../dist/http/step-timer.js";
import { callBlocked } from "../support/blocked-call.js";

const MIB = 2 ** 20;

/** How long the event loop is blocked, in milliseconds, and the time-outs that are shorter. */
const BLOCKED = 10_000;
const TIMEOUTS: Timeouts = { connect: 4_000, firstByte: 4_000, stall: 4_000 };

const path = temporaryFolder();

beforeAll(async () => {
  writeFileSync(path("image"), noise("image", 8 * MIB));
  await createSnapshot(path("image"), path("image.vhs"), { pieceSize: 4096 });
});

/** Calls to a server in another process, each in a thread that is blocked. */
describe.concurrent("transfers", () => {
  /** Serves the snapshot. */
  async function serve({ onTestFinished }: TestContext, ...options: string[]) {
    const server = await startOriginProcess(["--file", path("image.vhs"), ...options]);
    onTestFinished(() => server.close());
    const statistics = new URL("/-/stats", server.url).href;
    return { server, blocked: { statistics, milliseconds: BLOCKED } };
  }

  test("reads the tail of a snapshot with one request although the event loop was blocked", async (context) => {
    const { server, blocked } = await serve(context, "--bytes-per-second", String(MIB / 16));
    const source = new URL("/image.vhs", server.url).href;
    const call = { call: "inspectSnapshot", source, options: { timeouts: TIMEOUTS } } as const;
    expect(await callBlocked({ ...call, ...blocked })).toMatchObject({ imageSize: 8 * MIB });
    expect(await server.requestCount()).toBe(1);
  });

  test("waits for the first byte although the event loop was blocked", async (context) => {
    const { server, blocked } = await serve(context, "--first-byte", "500");
    const source = new URL("/image.vhs", server.url).href;
    const call = { call: "inspectSnapshot", source, options: { timeouts: TIMEOUTS } } as const;
    await callBlocked({ ...call, ...blocked });
    expect(await server.requestCount()).toBe(1);
  });

  test("uploads a snapshot with one request although the event loop was blocked", async (context) => {
    const { server, blocked } = await serve(context, "--bytes-per-second", String(2 * MIB));
    const target = new URL("/new.vhs", server.url).href;
    // Bytes that the system holds are on their way long after the last was written.
    const options = { timeouts: { ...TIMEOUTS, firstByte: 30_000 }, level: 1 };
    const call = { call: "createSnapshot", source: path("image"), target, options } as const;
    await callBlocked({ ...call, ...blocked });
    expect(await server.requestCount()).toBe(1);
    await restoreSnapshot(target, path("restored"));
    expectSame(readFileSync(path("restored")), readFileSync(path("image")));
  });
});

const never = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the event loop without using the processor. */
function block(milliseconds: number): void {
  Atomics.wait(never, 0, 0, milliseconds);
}

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
