/** How connections share a thread. */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

import { startOriginProcess } from "../../../../tests/support/origin-process.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { HttpClient } from "../../src/http/get.js";
import { transferOf } from "../../src/http/transfer.js";

const KIB = 2 ** 10;

const path = temporaryFolder();

test("takes about 512 KiB of a response in a turn of the event loop, and leaves the next to others", async () => {
  const length = 16 * 2 ** 20;
  writeFileSync(path("bytes"), Buffer.alloc(length));
  const server = await startOriginProcess(["--file", path("bytes")]);
  onTestFinished(() => server.close());
  const { timeouts } = transferOf({});
  const client = new HttpClient({ url: new URL("/bytes", server.url).href, headers: {} }, timeouts);
  onTestFinished(() => client.close());
  const download = client.get({});
  const response = await download.response();
  // Until then, the system receives what it has room for.
  await sleep(200);
  const turns = [0];
  const nextTurn = () => {
    if (turns.at(-1) !== 0) turns.push(0);
    turning = setImmediate(nextTurn);
  };
  let turning = setImmediate(nextTurn);
  await download.body(response, (bytes) => {
    turns[turns.length - 1] = (turns.at(-1) as number) + bytes.length;
  });
  clearImmediate(turning);
  expect(turns.reduce((sum, bytes) => sum + bytes)).toBe(length);
  // Node reads up to 64 KiB at a time.
  expect(Math.max(...turns)).toBeLessThan((512 + 2 * 64) * KIB);
});
