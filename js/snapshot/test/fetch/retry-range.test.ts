/** Servers that send a little over each connection, and never enough: reads give up after a few attempts. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  createSnapshot,
  inspectSnapshot,
  type RestoreOptions,
  restoreSnapshot,
  type SnapshotErrorCode,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import type { Fault, FaultRequest } from "../../../../tests/origin/fault.mjs";
import type { Origin } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { refusalOf } from "../support/refusal.js";
import { expectNothingLeft, faultsOf, isPart, isTail, originOf } from "../support/remote.js";

/** How many bytes of a frame count as progress, which resets the count of attempts. */
const MIN_PROGRESS = 2 ** 16;

/** Attempts without progress before giving up. */
const ATTEMPTS = 3;

const [PIECE, DATA] = [2 ** 19, 2 ** 21];

const path = temporaryFolder();
const [snapshot, restored] = [path("image.vhs"), path("restored")];
const image = noise("image", DATA);

/** Everything before the tail is one range, over one connection at a time. */
const READING = { connections: 1, partSize: 2 ** 24, retries: ATTEMPTS - 1 };
const OPTIONS = { ...READING, workers: 1 };

let file = Buffer.alloc(0);

beforeAll(async () => {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), snapshot, { workers: 1, pieceSize: PIECE, level: 1 });
  file = readFileSync(snapshot);
});

beforeEach(() => rmSync(restored, { force: true }));

/** Calls that fetch frames, and how many requests come first: for the tail, and to verify, for the header. */
const calls = [
  {
    name: "restoreSnapshot",
    before: 1,
    call: (url: URL, options: RestoreOptions) => restoreSnapshot(url, restored, options),
  },
  {
    name: "verifySnapshot",
    before: 2,
    call: (url: URL, options: RestoreOptions) => verifySnapshot(url, options),
  },
];

/** Returns whether a request is for frames. The header is short. */
const isFrames = (request: FaultRequest) => isPart(request) && request.length > 1000;

/** Starts an origin whose responses to some requests all have the same fault. */
const dripping = (
  which: (request: FaultRequest) => boolean,
  fault: Fault | ((request: FaultRequest) => Fault),
) => originOf({ "/a.vhs": file }, { faults: faultsOf(which, fault) });

/** Throws unless work is given up after at most so many requests. */
async function expectGivenUp(
  origin: Origin,
  work: Promise<unknown>,
  maxRequests: number,
  code: SnapshotErrorCode = "ERR_SOURCE",
): Promise<void> {
  await refusalOf(work, code);
  expect(origin.requestCount).toBeLessThanOrEqual(maxRequests);
  expect(existsSync(restored)).toBe(false);
  await expectNothingLeft(path(), origin);
}

describe.each(calls)("$name", ({ before, call }) => {
  test.each([1, 100, MIN_PROGRESS - 1])(
    "gives up a server that sends %i bytes of a frame over each connection",
    async (cutAfter) => {
      const origin = await dripping(isFrames, { cutAfter });
      await expectGivenUp(origin, call(origin.url("/a.vhs"), OPTIONS), before + ATTEMPTS);
    },
  );

  test("gives up a server that sends enough of a frame each time, but always damaged", async () => {
    const garbage = Buffer.concat([
      noise("other", file.length - 2 ** 10),
      file.subarray(-(2 ** 10)),
    ]);
    const origin = await dripping(
      () => true,
      (request) => ({
        etag: null,
        ...(isFrames(request) ? { content: garbage, cutAfter: MIN_PROGRESS + 1 } : {}),
      }),
    );
    // A damaged frame is fetched up to three times, each time in so many parts.
    const maxRequests = before + ATTEMPTS * Math.ceil((PIECE + MIN_PROGRESS) / MIN_PROGRESS);
    const work = call(origin.url("/a.vhs"), OPTIONS);
    await expectGivenUp(origin, work, maxRequests, "ERR_SNAPSHOT_FORMAT");
  });
});

test.each([MIN_PROGRESS, MIN_PROGRESS + 1])(
  "continues after a connection that breaks again and again, each time after %i bytes",
  async (cutAfter) => {
    const origin = await dripping(isPart, { cutAfter });
    await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
    expectSame(readFileSync(restored), image);
    expect(origin.requestCount).toBeGreaterThan(10);
    expect(origin.requestCount).toBeLessThanOrEqual(2 + Math.ceil(file.length / cutAfter));
  },
);

test("continues after a connection that brings one small frame each time", async () => {
  const [half, small] = [image.subarray(0, DATA / 2), path("small.vhs")];
  writeFileSync(path("half"), half);
  const { fileSize } = await createSnapshot(path("half"), small, {
    ...{ workers: 1, pieceSize: 2 ** 14, level: 1 },
  });
  const bytes = readFileSync(small);
  // The data does not compress, so that a frame is slightly larger.
  const origin = await originOf(
    { "/a.vhs": bytes },
    { faults: faultsOf(isPart, { cutAfter: 2 ** 14 + 100 }) },
  );
  await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  expectSame(readFileSync(restored), half);
  expect(origin.requestCount).toBeGreaterThan(10);
  expect(origin.requestCount).toBeLessThanOrEqual(2 + Math.ceil(fileSize / 2 ** 14));
});

test("gives up on a tail that is sent byte by byte", async () => {
  const origin = await dripping(isTail, { cutAfter: 1 });
  await expectGivenUp(origin, inspectSnapshot(origin.url("/a.vhs"), READING), ATTEMPTS);
});

test("gives up on a tail sent byte by byte by a server that ignores suffix ranges", async () => {
  const faults = (request: FaultRequest) =>
    isTail(request) ? { ignoreRange: true } : { cutAfter: 1 };
  const origin = await originOf({ "/a.vhs": file }, { faults });
  await expectGivenUp(origin, inspectSnapshot(origin.url("/a.vhs"), READING), 2 * ATTEMPTS);
});

test.each([1, MIN_PROGRESS + 1])(
  "gives up on a server without ranges that sends %i bytes each time",
  async (cutAfter) => {
    const origin = await dripping(() => true, { ignoreRange: true, cutAfter });
    // Each attempt requests the tail, and then everything.
    const work = restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
    await expectGivenUp(origin, work, 2 * ATTEMPTS);
  },
);

test("gives up on a server that receives a little of an upload each time", async () => {
  const origin = await originOf({}, { faults: () => ({ cutAfter: MIN_PROGRESS + 1 }) });
  const work = createSnapshot(path("image"), origin.url("/a.vhs"), { ...OPTIONS, level: 1 });
  await expectGivenUp(origin, work, ATTEMPTS, "ERR_TARGET");
});
