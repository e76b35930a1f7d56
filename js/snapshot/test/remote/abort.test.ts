/** Callers who change their mind while something is fetched. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createSnapshot,
  inspectSnapshot,
  type RestoreOptions,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import type { Origin } from "../../../../tests/origin/origin.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { run } from "../support/job.js";
import {
  expectNothingLeft,
  faultsOf,
  isHead,
  isPart,
  isTail,
  originOf,
} from "../support/remote.js";

/** On a machine that is idle, it takes less than 100 ms. What waits would do so for twice as long as this. */
const SOON_ENOUGH = 5_000;

const path = temporaryFolder();
const [snapshot, restored] = [path("image.vhs"), path("restored")];
// The beginning is asked for at once only where the connections are not counted.
const OPTIONS = { workers: 2, partSize: 2 ** 18 };
const reason = new Error("the caller's own");

beforeAll(async () => {
  writeFileSync(path("image"), noise("image", 6 * 2 ** 20));
  await createSnapshot(path("image"), snapshot, { pieceSize: 2 ** 16 });
});

beforeEach(() => rmSync(restored, { force: true }));

const calls = {
  restoreSnapshot: (url: URL, options: RestoreOptions) => restoreSnapshot(url, restored, options),
  verifySnapshot: (url: URL, options: RestoreOptions) => verifySnapshot(url, options),
};

/** Ends work when it is told to, and throws unless it is over soon, and nothing is left of it. */
async function abortWhen(
  origin: Origin,
  work: (options: RestoreOptions) => Promise<unknown>,
  moment: () => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController();
  const ended = rejectionOf(work({ ...OPTIONS, signal: controller.signal }));
  await moment();
  const begin = performance.now();
  controller.abort(reason);
  expect(await ended).toBe(reason);
  expect(performance.now() - begin).toBeLessThan(SOON_ENOUGH);
  expect(existsSync(restored)).toBe(false);
  await expectNothingLeft(path(), origin);
}

/** Waits until there is such a request, and a moment longer. */
function until(origin: Origin, which: (request: Origin["requests"][number]) => boolean) {
  return async () => {
    while (!origin.requests.some(which)) await sleep(2);
    await sleep(50);
  };
}

const SLOW = { bytesPerSecond: 20_000 };
const LATER = { status: 503, retryAfter: 30 };

const moments: Record<
  string,
  { faults: () => Faults; which: (request: Origin["requests"][number]) => boolean }
> = {
  "while the end is awaited": {
    faults: () => faultsOf(isTail, { noAnswer: true }),
    which: isTail,
  },
  "while the end comes": { faults: () => faultsOf(isTail, { stallAfter: 100 }), which: isTail },
  "while the beginning comes": {
    faults: () => faultsOf(() => true, SLOW),
    which: (request) => isHead(request) && request.bytesSent > 0,
  },
  "while parts come": {
    faults: () => faultsOf(isPart, SLOW),
    which: (request) => isPart(request) && request.bytesSent > 0,
  },
  "while parts are awaited": { faults: () => faultsOf(isPart, { noAnswer: true }), which: isPart },
  "before the end is asked for again": { faults: () => faultsOf(isTail, LATER), which: isTail },
  "before parts are asked for again": { faults: () => faultsOf(isPart, LATER), which: isPart },
};

describe.each(Object.entries(calls))("%s", (_, call) => {
  test.each(Object.entries(moments))("%s", async (_, { faults, which }) => {
    const origin = await originOf({ "/a.vhs": snapshot }, { faults: faults() });
    await abortWhen(origin, (options) => call(origin.url("/a.vhs"), options), until(origin, which));
  });

  test("before anything is asked for", async () => {
    const origin = await originOf({ "/a.vhs": snapshot });
    const signal = AbortSignal.abort(reason);
    expect(await rejectionOf(call(origin.url("/a.vhs"), { ...OPTIONS, signal }))).toBe(reason);
    await sleep(100);
    expect(origin.requestCount).toBe(0);
    await expectNothingLeft(path(), origin);
  });

  test("at many moments", async () => {
    const conditions = { bytesPerSecond: 3_000_000, firstByte: 5 };
    const origin = await originOf({ "/a.vhs": snapshot }, { conditions });
    for (let wait = 0; wait < 300; wait += 12) {
      await abortWhen(
        origin,
        (options) => call(origin.url("/a.vhs"), options),
        () => sleep(wait),
      );
    }
  }, 120_000);

  test("what onProgress throws ends it as well", async () => {
    const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(isPart, SLOW) });
    const onProgress = () => {
      throw reason;
    };
    expect(await rejectionOf(call(origin.url("/a.vhs"), { ...OPTIONS, onProgress }))).toBe(reason);
    expect(existsSync(restored)).toBe(false);
    await expectNothingLeft(path(), origin);
  });
});

test("looking at a snapshot is ended", async () => {
  const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(isTail, LATER) });
  const work = (options: RestoreOptions) => inspectSnapshot(origin.url("/a.vhs"), options);
  await abortWhen(origin, work, until(origin, isTail));
});

test.each(["progress", "throw"] as const)(
  "no thread stays in a process of its own: %s",
  async (abort) => {
    const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(isPart, SLOW) });
    const outcome = await run({
      call: "restoreSnapshot",
      source: origin.url("/a.vhs").href,
      target: path("target"),
      options: OPTIONS,
      abort,
    });
    expect(outcome.error).toMatchObject({ isReason: true });
    expect(outcome).toMatchObject({ running: 0, started: 2 });
    expect(outcome.delay).toBeLessThan(SOON_ENOUGH);
    expect(existsSync(path("target"))).toBe(false);
    await expectNothingLeft(path(), origin);
  },
);
