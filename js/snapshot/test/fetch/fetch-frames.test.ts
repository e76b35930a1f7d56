/** Restores from a server without faults bring every byte, whatever the options. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  type CreateOptions,
  createSnapshot,
  inspectSnapshot,
  type RestoreOptions,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import { makeExt4Image } from "../../../../scripts/lib/file-systems.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  bytesOnDisk,
  expectSame,
  letters,
  noise,
  writeSparse,
} from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { expectSameFiles } from "../support/compare.js";
import { expectNothingLeft, originOf } from "../support/remote.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

const path = temporaryFolder();
const [image, snapshot, restored] = [path("image"), path("image.vhs"), path("restored")];

async function make(options: CreateOptions = {}): Promise<SnapshotInfo> {
  const { duration: _, ...info } = await createSnapshot(image, snapshot, { level: 1, ...options });
  return info;
}

describe("small images", () => {
  const CONNECTIONS = [1, 2, 16];

  /**
   * The options to try for a size of pieces. `npm test` tries every number of connections, every number of workers,
   * and the others for one of the sizes. `npm run verify` tries all for all sizes.
   */
  const waysFor = (shift: number): RestoreOptions[] => [
    ...[1, 2, 3]
      .flatMap((workers) =>
        CONNECTIONS.map((connections) => ({ workers, connections, partSize: 64 * KIB })),
      )
      .filter((_, index) => trials({ few: index - 4 * shift, all: 0 }) === 0),
    ...[
      { workers: 2, connections: 2, partSize: GIB },
      { workers: 1, connections: 1, partSize: GIB },
      { workers: 3, connections: 256, partSize: MIB },
      { workers: 1 },
      { workers: 2 },
      {},
    ].filter((_, index) => trials({ few: (index + shift) % 3, all: 0 }) === 0),
  ];

  // Each image has several pieces.
  describe.each([
    [4 * KIB, MIB / 8, 0],
    [MIB, MIB / 4, 1],
    [16 * MIB, MIB, 2],
  ])("in pieces of %i bytes", (pieceSize, scale, shift) => {
    const bytes = Buffer.concat([
      noise("first", 5 * scale),
      Buffer.alloc(3 * scale + 5),
      letters("second", 7 * scale),
      Buffer.alloc(70_000),
      noise("last", 4 * scale + 1),
    ]);
    let info: SnapshotInfo;

    beforeAll(async () => {
      writeFileSync(image, bytes);
      info = await make({ pieceSize });
    });

    test.each(waysFor(shift))("restores a small image with %o", async (options) => {
      const origin = await originOf({ "/a.vhs": snapshot });
      const { duration, ...found } = await restoreSnapshot(origin.url("/a.vhs"), restored, options);
      expect(duration).toBeGreaterThan(0);
      expect(found).toEqual(info);
      expectSame(readFileSync(restored), bytes);
      await expectNothingLeft(path(), origin);
      const { connections = Infinity } = options;
      const used = new Set(origin.requests.map(({ connection }) => connection));
      expect(used.size).toBeLessThanOrEqual(connections + 2);
    });

    test("verifies and inspects a small image with the same result", async () => {
      const origin = await originOf({ "/a.vhs": snapshot });
      const { digest } = info;
      expect(await verifySnapshot(origin.url("/a.vhs").href, { digest })).toEqual(info);
      expect(await inspectSnapshot(origin.url("/a.vhs"), { digest })).toEqual(info);
      await expectNothingLeft(path(), origin);
    });
  });

  test.each([0, 1, 100, 64 * KIB])("restores an image of %i bytes", async (length) => {
    const few = noise("few", length);
    writeFileSync(image, few);
    const info = await make();
    const origin = await originOf({ "/a.vhs": snapshot });
    await restoreSnapshot(origin.url("/a.vhs"), restored, { workers: 1 });
    expectSame(readFileSync(restored), few);
    expect(await verifySnapshot(origin.url("/a.vhs"), { workers: 1 })).toEqual(info);
    await expectNothingLeft(path(), origin);
  });

  test("restores an image that is one hole", async () => {
    writeSparse(image, 5 * GIB, [], () => Buffer.alloc(0));
    await make();
    const origin = await originOf({ "/a.vhs": snapshot });
    const { dataFrames } = await restoreSnapshot(origin.url("/a.vhs"), restored);
    expect(dataFrames).toBe(0);
    expect(bytesOnDisk(restored)).toBe(0);
    await expectSameFiles(image, restored);
    await expectNothingLeft(path(), origin);
  });
});

describe.each([
  ["a file system", 0, () => makeExt4Image(image, { imageBytes: GIB / 4, dataBytes: 1.5e7 })],
  [
    "a sparse image of 16 GiB",
    1,
    () => {
      const offsets = [0, 3 * MIB, 5 * GIB + 12_345, 9 * GIB, 16 * GIB - 2 * MIB];
      writeSparse(image, 16 * GIB, offsets, (offset) => noise(`${offset}`, 2 * MIB));
    },
  ],
] as const)("%s", (name, shift, makeImage) => {
  let info: SnapshotInfo;

  beforeAll(async () => {
    rmSync(restored, { force: true });
    makeImage();
    info = await make();
  });

  // `npm test` tries each of them with one of the images.
  const all: RestoreOptions[] = [{}, { workers: 1, connections: 2 }, { connections: 16 }];
  const ways = all.filter((_, index) => trials({ few: (index + shift) % 2, all: 0 }) === 0);

  test.each(ways)(`restores ${name} with %o`, async (options) => {
    const origin = await originOf({ "/a.vhs": snapshot });
    await restoreSnapshot(origin.url("/a.vhs"), restored, { ...options, digest: info.digest });
    await expectSameFiles(image, restored);
    expect(bytesOnDisk(restored)).toBeLessThanOrEqual(bytesOnDisk(image) * 1.01 + MIB);
    await expectNothingLeft(path(), origin);
    rmSync(restored);
  });
});
