/** Restores that resume unfinished ones, whatever happened to the partial image and the journal. */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSnapshot, type RestoreOptions, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";
import { expectNoConnections, faultsOf, isTail, originOf } from "../support/remote.js";
import { entryPosition, manifestOf, missingBytes, resumePaths } from "../support/resume-state.js";

const MIB = 2 ** 20;
const PIECE = 2 ** 17;
const OLD = "what was there before";

const path = temporaryFolder();
const [image, snapshot, target] = [path("image"), path("image.vhs"), path("folder", "target")];

/** Data, a hole, and data in which there are zeros. */
const bytes = Buffer.concat(
  [
    noise("first", 2 * MIB),
    Buffer.alloc(MIB),
    ...Array.from({ length: 16 }, (_, index) => [
      noise(`${index}`, PIECE / 2),
      Buffer.alloc(PIECE / 2),
    ]),
  ].flat(),
);

const OPTIONS = { workers: 1, connections: 2, partSize: 2 ** 18, resume: true };

let manifest: Awaited<ReturnType<typeof manifestOf>>;
let [partial, journal] = ["", ""];

beforeAll(async () => {
  writeFileSync(image, bytes);
  await createSnapshot(image, snapshot, { pieceSize: PIECE });
  manifest = await manifestOf(snapshot);
  ({ partial, journal } = resumePaths(target, manifest.info.digest));
});

beforeEach(() => {
  rmSync(path("folder"), { recursive: true, force: true });
  mkdirSync(path("folder"));
});

const names = () => readdirSync(path("folder")).sort();

/** Restores the first half of the image to a path: the server refuses the second. */
async function restoreHalfTo(target: string): Promise<void> {
  // Do not refuse the request for the end, which is the first one and brings frames, too.
  const isSecond = faultsOf(({ range }) => range !== undefined && range.start > MIB, {
    status: 404,
  });
  const origin = await originOf({ "/a.vhs": snapshot });
  origin.faults = (request) => (isTail(request) ? undefined : isSecond(request));
  await refusalOf(restoreSnapshot(origin.url("/a.vhs"), target, OPTIONS), "ERR_SOURCE");
  await expectNoConnections(origin);
  const missing = missingBytes(manifest, target);
  expect(missing).toBeGreaterThan(MIB / 2);
  expect(missing).toBeLessThan(missingBytes(manifest, path("nothing")));
}

let half: Promise<void> | undefined;

/** Makes the files of a restore of the first half: copies, which are cheaper than another restore. */
async function restoreHalf(): Promise<void> {
  if (half === undefined) mkdirSync(path("half"));
  half ??= restoreHalfTo(path("half", "target"));
  await half;
  for (const kept of [partial, journal]) copyFileSync(path("half", basename(kept)), kept);
}

/** Resumes the restore, and checks the image and that only `others` are left. Returns the number of bytes sent. */
async function resume(
  others: readonly string[] = [],
  options: RestoreOptions = {},
): Promise<number> {
  const origin = await originOf({ "/a.vhs": snapshot });
  await restoreSnapshot(origin.url("/a.vhs"), target, { ...OPTIONS, ...options });
  expectSame(readFileSync(target), bytes);
  expect(names()).toEqual([...others, "target"].sort());
  await expectNoConnections(origin);
  return origin.bytesSent;
}

test("keeps the partial image and journal, readable by the owner only, until the restore is complete", async () => {
  writeFileSync(target, OLD);
  await restoreHalfTo(target);
  expect(names()).toEqual([basename(journal), basename(partial), "target"].sort());
  for (const kept of [partial, journal]) expect(statSync(kept).mode & 0o777).toBe(0o600);
  expect(readFileSync(target, "utf8")).toBe(OLD);
  const missing = missingBytes(manifest, target);
  expect(await resume()).toBeLessThanOrEqual(missing * 1.1 + 2 ** 19);
});

test("a restore without resume neither uses nor removes what another one kept", async () => {
  await restoreHalfTo(target);
  const kept = names();
  const origin = await originOf({ "/a.vhs": snapshot });
  await restoreSnapshot(origin.url("/a.vhs"), target, { ...OPTIONS, resume: false });
  expectSame(readFileSync(target), bytes);
  expect(names()).toEqual([...kept, "target"].sort());
});

test("counts resumed frames in the progress", async () => {
  await restoreHalf();
  const { dataSize, dataFrames } = manifest.info;
  let last: object | undefined;
  await resume([], {
    onProgress: (progress) => {
      last = progress;
    },
  });
  expect(last).toMatchObject({ bytes: dataSize, totalBytes: dataSize, frames: dataFrames });
});

test("keeps the partial image when the signal is aborted", async () => {
  const origin = await originOf({ "/a.vhs": snapshot }, { conditions: { bytesPerSecond: 2e6 } });
  const controller = new AbortController();
  const { signal } = controller;
  const options = { ...OPTIONS, workers: 2, signal };
  const ended = rejectionOf(restoreSnapshot(origin.url("/a.vhs"), target, options));
  while (!origin.requests.some((request) => !isTail(request))) await sleep(2);
  controller.abort();
  expect(await ended).toBe(signal.reason);
  await expectNoConnections(origin);
  expect(names()).toEqual([basename(journal), basename(partial)].sort());
  await resume([], { workers: 2 });
});

test("resumes a restore from a local file", async () => {
  await restoreHalf();
  await restoreSnapshot(snapshot, target, { resume: true, workers: 1 });
  expectSame(readFileSync(target), bytes);
  expect(names()).toEqual(["target"]);
  await restoreSnapshot(snapshot, target, { resume: true });
  expect(names()).toEqual(["target"]);
  await refusalOf(
    restoreSnapshot(snapshot, target, { resume: true, overwrite: false }),
    "ERR_TARGET",
  );
});

test("fetches only the end of the snapshot when every frame is restored", async () => {
  const origin = await originOf({ "/a.vhs": snapshot });
  // A directory at the path of the image makes the last step of the restore fail.
  const onProgress = () => mkdirSync(target, { recursive: true });
  const options = { ...OPTIONS, onProgress };
  await refusalOf(restoreSnapshot(origin.url("/a.vhs"), target, options), "ERR_TARGET");
  await expectNoConnections(origin);
  expect(missingBytes(manifest, target)).toBe(0);
  rmSync(target, { recursive: true });
  expect(await resume()).toBeLessThanOrEqual(2 ** 19);
});

/** Changes a file: `change` edits its bytes in place, or returns others. */
function damage(file: string, change: (found: Buffer) => unknown): void {
  const found = readFileSync(file);
  const changed = change(found);
  writeFileSync(file, changed instanceof Buffer ? changed : found);
}

const firstFrame = () => manifest.frames.segment(0).imageOffset;

const damages: Record<string, () => void> = {
  "a missing journal": () => rmSync(journal),
  "a missing image": () => rmSync(partial),
  "an empty journal": () => truncateSync(journal),
  "a journal with only its head": () => truncateSync(journal, entryPosition(0)),
  "a journal that ends early": () => truncateSync(journal, entryPosition(3) + 7),
  "a journal that ends in its head": () => truncateSync(journal, 40),
  "a journal of zeros": () => damage(journal, (found) => Buffer.alloc(found.length)),
  "a journal of noise": () => damage(journal, (found) => noise("journal", found.length)),
  "a journal that claims every frame": () =>
    damage(journal, (found) => {
      const claimed = Buffer.alloc(entryPosition(manifest.frames.count), 1);
      found.copy(claimed, 0, 0, entryPosition(0));
      return claimed;
    }),
  "a journal of another snapshot": () =>
    damage(journal, (found) => {
      found[entryPosition(0) - 1]! ^= 1;
    }),
  "a journal with swapped entries": () =>
    damage(journal, (found) => {
      const first = Buffer.from(found.subarray(entryPosition(0), entryPosition(1)));
      found.copy(found, entryPosition(0), entryPosition(1), entryPosition(2));
      first.copy(found, entryPosition(1));
    }),
  "a journal that is longer": () =>
    damage(journal, (found) => Buffer.concat([found, noise("longer", 5000)])),
  "an empty image": () => truncateSync(partial),
  "a truncated image": () => truncateSync(partial, bytes.length - 1),
  "an image that is longer": () => truncateSync(partial, bytes.length + 1),
  "an image of zeros": () => damage(partial, (found) => Buffer.alloc(found.length)),
  "an image with noise where its frames were restored": () =>
    damage(partial, (found) => {
      noise("partial", PIECE).copy(found, firstFrame());
    }),
  "an image with a flipped bit": () =>
    damage(partial, (found) => {
      found[firstFrame() + 1000]! ^= 4;
    }),
  "an image with noise where nothing was restored": () =>
    damage(partial, (found) => {
      noise("partial", 2 * PIECE).copy(found, found.length - 4 * PIECE);
    }),
  "an image with noise in its hole": () =>
    damage(partial, (found) => {
      noise("partial", 3 * 4096).copy(found, 2 * MIB + 5 * 4096);
    }),
  "files that others may read": () => {
    chmodSync(partial, 0o644);
    chmodSync(journal, 0o644);
  },
  "files of other users": () => {
    // Only root can change the owner of a file.
    const user = process.getuid?.() === 0 ? 12_345 : process.getuid!();
    chownSync(partial, user, user);
    chownSync(journal, user, user);
  },
};

describe("damage of the partial image and the journal", () => {
  test.each(Object.entries(damages))("restores every byte in spite of %s", async (_, act) => {
    await restoreHalf();
    act();
    await resume();
  });

  test("restores every byte in spite of random flipped bits in both files", async () => {
    const random = seededRandom(9);
    const rounds = trials({ few: 2, all: 20 });
    for (let round = 0; round < rounds; round += 1) {
      rmSync(target, { force: true });
      await restoreHalf();
      for (const kept of [journal, partial]) {
        damage(kept, (found) => {
          for (let count = 0; count < 5; count += 1) {
            found[Math.floor(random() * found.length)]! ^= 1 << Math.floor(random() * 8);
          }
        });
      }
      await resume([], { workers: 2 });
    }
  });

  test.each(["image", "journal"] as const)(
    "replaces a symbolic link in place of the %s, and leaves its target as it was",
    async (which) => {
      await restoreHalf();
      const kept = which === "image" ? partial : journal;
      renameSync(kept, path("folder", "others"));
      symlinkSync("others", kept);
      const before = readFileSync(path("folder", "others"));
      await resume(["others"]);
      expectSame(readFileSync(path("folder", "others")), before);
    },
  );

  test.each(["image", "journal"] as const)(
    "replaces a hard link in place of the %s, and leaves the file as it was",
    async (which) => {
      await restoreHalf();
      const kept = which === "image" ? partial : journal;
      linkSync(kept, path("folder", "others"));
      const before = readFileSync(path("folder", "others"));
      await resume(["others"]);
      expectSame(readFileSync(path("folder", "others")), before);
    },
  );

  test("fails if a directory is in place of the partial image", async () => {
    mkdirSync(partial);
    const origin = await originOf({ "/a.vhs": snapshot });
    const restoring = restoreSnapshot(origin.url("/a.vhs"), target, OPTIONS);
    const error = await refusalOf(restoring, "ERR_TARGET");
    expect(error.message).toContain(target);
    expect(existsSync(target)).toBe(false);
    await expectNoConnections(origin);
  });

  test("restores every byte in spite of the files of another snapshot", async () => {
    await restoreHalf();
    const [wrongJournal, wrongPartial] = [readFileSync(journal), readFileSync(partial)];
    await resume();
    // The same image in other pieces: the files have the right size, and every entry is of other bytes.
    await createSnapshot(image, path("other.vhs"), { pieceSize: 2 * PIECE });
    const other = await manifestOf(path("other.vhs"));
    const kept = resumePaths(target, other.info.digest);
    rmSync(target);
    writeFileSync(kept.partial, wrongPartial, { mode: 0o600 });
    writeFileSync(kept.journal, wrongJournal, { mode: 0o600 });
    const origin = await originOf({ "/a.vhs": path("other.vhs") });
    await restoreSnapshot(origin.url("/a.vhs"), target, OPTIONS);
    expectSame(readFileSync(target), bytes);
    expect(names()).toEqual(["target"]);
  });
});

describe("two processes", () => {
  test.each([
    ["from the start", async () => {}],
    ["from a partial image", restoreHalf],
  ])("two processes restore the same image %s, and both succeed", async (_, before) => {
    await before();
    copyFileSync(snapshot, path("again.vhs"));
    const origin = await originOf(
      { "/a.vhs": snapshot, "/b.vhs": path("again.vhs") },
      { conditions: { bytesPerSecond: 1_500_000 } },
    );
    const outcomes = await Promise.all(
      ["/a.vhs", "/b.vhs"].map((url) =>
        run({
          call: "restoreSnapshot",
          source: origin.url(url).href,
          target,
          options: OPTIONS,
        }),
      ),
    );
    expectSame(readFileSync(target), bytes);
    expect(names()).toEqual(["target"]);
    expect(outcomes.map(({ error }) => error)).toEqual([null, null]);
    await expectNoConnections(origin);
  });
});
