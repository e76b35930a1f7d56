/** How connections share a thread. */
import { writeFileSync } from "node:fs";
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
  const turns = [0];
  const nextTurn = () => {
    if (turns.at(-1) !== 0) turns.push(0);
    turning = setImmediate(nextTurn);
  };
  let turning = setImmediate(nextTurn);
  const download = client.get({});
  await download.response(() =>
    download.body((bytes) => {
      turns[turns.length - 1] = (turns.at(-1) as number) + bytes.length;
      // Meanwhile, the system receives what it has room for.
      if (turns.length === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }),
  );
  clearImmediate(turning);
  expect(turns.reduce((sum, bytes) => sum + bytes)).toBe(length);
  expect(Math.max(...turns)).toBeLessThanOrEqual(512 * KIB);
});
