/** A snapshot on a server that fails, for tests. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  createSnapshot,
  type RestoreOptions,
  restoreSnapshot,
  SnapshotError,
} from "@hedgerow/snapshot";
import { beforeAll, expect } from "vitest";
import type { Fault, FaultRequest, Faults } from "../../../../tests/origin/fault.mjs";
import type { Origin, OriginOptions } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { textsIn } from "./error-texts.js";
import { expectNothingLeft, originOf } from "./remote.js";

const MIB = 2 ** 20;

export const path = temporaryFolder();
export const [snapshot, restored] = [path("image.vhs"), path("restored")];

/** Data, a hole, and data. Each range holds several frames. */
export const image = Buffer.concat([
  noise("first", MIB),
  Buffer.alloc(MIB),
  letters("last", MIB + 17),
]);

/** Small ranges over few connections. A second worker would double the cost of each restore. */
export const OPTIONS = { workers: 1, connections: 3, partSize: 2 ** 18, retries: 3 };

/** A snapshot of the image, and another of the same length whose bytes differ everywhere. */
export let [file, other] = [Buffer.alloc(0), Buffer.alloc(0)];

beforeAll(async () => {
  const make = async (bytes: Buffer) => {
    writeFileSync(path("image"), bytes);
    await createSnapshot(path("image"), snapshot, { workers: 1, pieceSize: 2 ** 16 });
    return readFileSync(snapshot);
  };
  file = await make(image);
  other = await make(Buffer.concat([noise("other", MIB), image.subarray(MIB)]));
  expect(other).toHaveLength(file.length);
});

/** Every request. */
export const all = () => true;

/** What a restore should bring, and what its errors should name. */
export interface Expected {
  /** Default: the image of the snapshot. */
  readonly bytes?: Buffer;
  /** Default: the URL of the snapshot. */
  readonly named?: string;
}

/** The secret in the URL, which no error may repeat. */
const SECRET = "b4c1e0d2";

/**
 * Restores the snapshot of an origin, and checks that nothing is left. Returns its `SnapshotError`, if there was one.
 */
export async function restore(
  origin: Origin,
  options: RestoreOptions = {},
  { bytes = image, named = origin.url("/a.vhs").href }: Expected = {},
): Promise<SnapshotError | undefined> {
  const url = origin.url(`/a.vhs?token=${SECRET}`);
  url.username = url.password = SECRET;
  try {
    await restoreSnapshot(url, restored, { ...OPTIONS, overwrite: false, ...options });
    expectSame(readFileSync(restored), bytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    expect(existsSync(restored), "a partial image").toBe(false);
    expect(error.message).toContain(named);
    expect(textsIn(error)).not.toContain(SECRET);
    return error;
  } finally {
    await expectNothingLeft(path(), origin);
    rmSync(restored, { force: true });
  }
}

/** Serves the snapshot. */
export const serve = (options: Omit<OriginOptions, "files"> = {}) =>
  originOf({ "/a.vhs": file }, options);

/**
 * Returns a fault of the first response from each offset. The ends of ranges do not count: readers shorten the ranges of
 * a fill, and a frame that is damaged in each of three attempts is not requested again.
 */
export function onceEach(which: (request: FaultRequest) => boolean, fault: Fault): Faults {
  const seen = new Set<string>();
  return (request) => {
    const start = request.headers.range?.replace(/\d+$/, "") ?? "";
    if (seen.has(start) || !which(request)) return undefined;
    seen.add(start);
    return fault;
  };
}

/** Two dates in the format of HTTP. */
export const [EARLIER, LATER] = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"];

/** Returns the date in so many milliseconds, in the format of HTTP. */
export const inMilliseconds = (count: number) => new Date(Date.now() + count).toUTCString();
