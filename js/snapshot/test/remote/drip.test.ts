/** Servers that bring a little over each connection, and never enough: they are given up after a few tries. */
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

/** What a connection has to bring for tries to be counted anew, if it is no frame. */
const LEAST = 2 ** 16;

/** How often something is tried that brings nothing, at the beginning and after each progress. */
const TRIES = 3;

const [PIECE, DATA] = [2 ** 19, 2 ** 21];

const path = temporaryFolder();
const [snapshot, restored] = [path("image.vhs"), path("restored")];
const image = noise("image", DATA);

/** All that is not at hand from the end is one range, over one connection at a time. */
const OPTIONS = { workers: 1, connections: 1, partSize: 2 ** 24, retries: TRIES - 1 };

let file = Buffer.alloc(0);

beforeAll(async () => {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), snapshot, { pieceSize: PIECE, level: 1 });
  file = readFileSync(snapshot);
});

beforeEach(() => rmSync(restored, { force: true }));

/** What fetches frames, and how many requests it makes before: for the end, and to verify, for the header. */
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

/** Whether a request is for frames. The header is short. */
const isFrames = (request: FaultRequest) => isPart(request) && request.length > 1000;

/** An origin of which all answers to some requests are wrong in the same way. */
const dripping = (
  which: (request: FaultRequest) => boolean,
  fault: Fault | ((request: FaultRequest) => Fault),
) => originOf({ "/a.vhs": file }, { faults: faultsOf(which, fault) });

/** Throws unless work is refused, after no more requests than there may be. */
async function expectGivenUp(
  origin: Origin,
  work: Promise<unknown>,
  most: number,
  code: SnapshotErrorCode = "ERR_SOURCE",
): Promise<void> {
  await refusalOf(work, code);
  expect(origin.requestCount).toBeLessThanOrEqual(most);
  expect(existsSync(restored)).toBe(false);
  await expectNothingLeft(path(), origin);
}

describe.each(calls)("$name", ({ before, call }) => {
  test.each([1, 100, LEAST - 1])(
    "gives up a server that brings %i bytes of a frame over each connection",
    async (cutAfter) => {
      const origin = await dripping(isFrames, { cutAfter });
      await expectGivenUp(origin, call(origin.url("/a.vhs"), OPTIONS), before + TRIES);
    },
  );

  test("gives up a server that brings enough of a frame each time, and never what it is", async () => {
    const garbage = Buffer.concat([
      noise("other", file.length - 2 ** 10),
      file.subarray(-(2 ** 10)),
    ]);
    const origin = await dripping(
      () => true,
      (request) => ({
        etag: null,
        ...(isFrames(request) ? { content: garbage, cutAfter: LEAST + 1 } : {}),
      }),
    );
    // A frame that is damaged is fetched three times at most, each time in so many parts.
    const most = before + TRIES * Math.ceil((PIECE + LEAST) / LEAST);
    const work = call(origin.url("/a.vhs"), OPTIONS);
    await expectGivenUp(origin, work, most, "ERR_SNAPSHOT_FORMAT");
  });
});

test.each([LEAST, LEAST + 1])(
  "a connection that breaks again and again, each time after %i bytes, is gone on with",
  async (cutAfter) => {
    const origin = await dripping(isPart, { cutAfter });
    await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
    expectSame(readFileSync(restored), image);
    expect(origin.requestCount).toBeGreaterThan(10);
    expect(origin.requestCount).toBeLessThanOrEqual(2 + Math.ceil(file.length / cutAfter));
  },
);

test("a connection that brings one small frame each time is gone on with", async () => {
  const small = path("small.vhs");
  const { fileSize } = await createSnapshot(path("image"), small, { pieceSize: 2 ** 14, level: 1 });
  const bytes = readFileSync(small);
  // A frame is a little more than its data, which does not compress.
  const origin = await originOf(
    { "/a.vhs": bytes },
    { faults: faultsOf(isPart, { cutAfter: 2 ** 14 + 100 }) },
  );
  await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  expectSame(readFileSync(restored), image);
  expect(origin.requestCount).toBeLessThanOrEqual(2 + Math.ceil(fileSize / 2 ** 14));
});

test("the end of a snapshot that comes byte by byte is given up", async () => {
  const origin = await dripping(isTail, { cutAfter: 1 });
  await expectGivenUp(origin, inspectSnapshot(origin.url("/a.vhs"), OPTIONS), TRIES);
});

test("the end of a snapshot that comes byte by byte where it is asked for by its place is given up", async () => {
  const faults = (request: FaultRequest) =>
    isTail(request) ? { ignoreRange: true } : { cutAfter: 1 };
  const origin = await originOf({ "/a.vhs": file }, { faults });
  await expectGivenUp(origin, inspectSnapshot(origin.url("/a.vhs"), OPTIONS), 2 * TRIES);
});

test.each([1, LEAST + 1])(
  "a server without ranges that brings %i bytes each time is given up",
  async (cutAfter) => {
    const origin = await dripping(() => true, { ignoreRange: true, cutAfter });
    // It is asked for its end by one range, and by the next try for all.
    const work = restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
    await expectGivenUp(origin, work, 2 * TRIES);
  },
);

test("a server that takes a little of a snapshot each time is given up", async () => {
  const origin = await originOf({}, { faults: () => ({ cutAfter: LEAST + 1 }) });
  const work = createSnapshot(path("image"), origin.url("/a.vhs"), { ...OPTIONS, level: 1 });
  await expectGivenUp(origin, work, TRIES, "ERR_TARGET");
});
