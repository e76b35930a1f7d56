/** Transfers that the caller aborts. */
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
import { trials } from "../../../../tests/support/trials.js";
import { run } from "../support/job.js";
import {
  expectNothingLeft,
  faultsOf,
  isHead,
  isPart,
  isTail,
  originOf,
} from "../support/remote.js";

/**
 * The time for an abort, in milliseconds. On an idle machine it takes less than 100; a pending wait takes twice this.
 */
const SOON_ENOUGH = 30_000;

const path = temporaryFolder();
const [snapshot, restored] = [path("image.vhs"), path("restored")];
// The prefix is requested only if `connections` is not set.
const OPTIONS = {
  ...{ workers: 2, partSize: 2 ** 18 },
  timeouts: { firstByte: 2 * SOON_ENOUGH, stall: 2 * SOON_ENOUGH },
};
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

/** Aborts work at a moment, and throws unless it ends soon and leaves nothing. */
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

/** Waits until there is such a request, and 50 ms more. */
function until(origin: Origin, which: (request: Origin["requests"][number]) => boolean) {
  return async () => {
    while (!origin.requests.some(which)) await sleep(2);
    await sleep(50);
  };
}

/** A range takes longer than two minutes. */
const SLOW = { bytesPerSecond: 2_000 };
const LATER = { status: 503, retryAfter: (2 * SOON_ENOUGH) / 1000 };

const moments: Record<
  string,
  { faults: () => Faults; which: (request: Origin["requests"][number]) => boolean }
> = {
  "while the tail is awaited": {
    faults: () => faultsOf(isTail, { noAnswer: true }),
    which: isTail,
  },
  "while the tail is received": {
    faults: () => faultsOf(isTail, { stallAfter: 100 }),
    which: isTail,
  },
  "while the prefix is received": {
    faults: () => faultsOf(() => true, SLOW),
    which: (request) => isHead(request) && request.bytesSent > 0,
  },
  "while ranges are received": {
    faults: () => faultsOf(isPart, SLOW),
    which: (request) => isPart(request) && request.bytesSent > 0,
  },
  "while ranges are awaited": { faults: () => faultsOf(isPart, { noAnswer: true }), which: isPart },
  "before a retry of the tail": { faults: () => faultsOf(isTail, LATER), which: isTail },
  "before a retry of a range": { faults: () => faultsOf(isPart, LATER), which: isPart },
};

describe.each(Object.entries(calls))("%s", (name, call) => {
  test.each(Object.entries(moments))(`aborts ${name} %s`, async (_, { faults, which }) => {
    const origin = await originOf({ "/a.vhs": snapshot }, { faults: faults() });
    await abortWhen(origin, (options) => call(origin.url("/a.vhs"), options), until(origin, which));
  });

  test(`aborts ${name} before any request`, async () => {
    const origin = await originOf({ "/a.vhs": snapshot });
    const signal = AbortSignal.abort(reason);
    expect(await rejectionOf(call(origin.url("/a.vhs"), { ...OPTIONS, signal }))).toBe(reason);
    await sleep(100);
    expect(origin.requestCount).toBe(0);
    await expectNothingLeft(path(), origin);
  });

  test(`aborts ${name} at many moments`, async () => {
    const conditions = { bytesPerSecond: 3_000_000, firstByte: 5 };
    const origin = await originOf({ "/a.vhs": snapshot }, { conditions });
    for (let wait = 0; wait < 300; wait += trials({ few: 60, all: 12 })) {
      await abortWhen(
        origin,
        (options) => call(origin.url("/a.vhs"), options),
        () => sleep(wait),
      );
    }
  });

  test(`ends ${name} with what onProgress throws`, async () => {
    const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(isPart, SLOW) });
    const onProgress = () => {
      throw reason;
    };
    expect(await rejectionOf(call(origin.url("/a.vhs"), { ...OPTIONS, onProgress }))).toBe(reason);
    expect(existsSync(restored)).toBe(false);
    await expectNothingLeft(path(), origin);
  });
});

test("aborts inspectSnapshot before a retry", async () => {
  const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(isTail, LATER) });
  const work = ({ workers: _, ...options }: RestoreOptions) =>
    inspectSnapshot(origin.url("/a.vhs"), options);
  await abortWhen(origin, work, until(origin, isTail));
});

test.each(["progress", "throw"] as const)(
  "leaves no thread after an abort by %s",
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
    expect(outcome).toMatchObject({ running: 0, used: 2 });
    expect(outcome.delay).toBeLessThan(SOON_ENOUGH);
    expect(existsSync(path("target"))).toBe(false);
    await expectNothingLeft(path(), origin);
  },
);
