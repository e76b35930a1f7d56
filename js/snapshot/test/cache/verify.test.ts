/** Images that are not what was restored: how they are found, and that they are fetched again. */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ImageCache } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test, vi } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  digestsIn,
  expectImage,
  imageIn,
  KIB,
  MIB,
  makeSamples,
  newDirectories,
  openCache,
  recordIn,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { recordEvents } from "../support/events.js";
import { refusalOf } from "../support/refusal.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let [one, other] = [{} as Sample, {} as Sample];

beforeAll(async () => {
  const layout = { data: 512 * KIB, size: 8 * MIB, stride: MIB };
  [one, other] = (await makeSamples(path, ["one", "other"], layout)) as [Sample, Sample];
});

/** A cache that has both images, which nobody uses. */
async function filledCache(options = {}): Promise<ImageCache> {
  const cache = await openCache(newDirectory(), options);
  for (const { snapshot } of [one, other]) await (await cache.get(snapshot)).release();
  return cache;
}

/** Changes some bytes of a file, whoever may write to it. */
function change(file: string, position: number, make: (bytes: Buffer) => void, length = 1): void {
  const { mode } = statSync(file);
  chmodSync(file, 0o600);
  const fd = openSync(file, "r+");
  const bytes = Buffer.alloc(length);
  readSync(fd, bytes, 0, length, position);
  make(bytes);
  writeSync(fd, bytes, 0, length, position);
  closeSync(fd);
  chmodSync(file, mode & 0o777);
}

const flip = (bytes: Buffer) => {
  bytes[0] = bytes[0]! ^ 1;
};

/** Has something done to a file that only its owner may write to. */
function writable(file: string, act: () => void): void {
  chmodSync(file, 0o600);
  act();
  chmodSync(file, 0o400);
}

/** What can happen to an image: of those that are told apart, nothing but the reading of it all tells. */
const harms: Record<string, (image: string, record: string) => void> = {
  "a bit is another": (image) => change(image, 5 * MIB + 30_000, flip),
  "the first byte is another": (image) => change(image, 0, flip),
  "the last byte is another": (image) => change(image, 8 * MIB - 1, flip),
  "a hole has a byte": (image) => change(image, MIB - 1, (bytes) => bytes.fill(1)),
  "a piece is zeros": (image) => change(image, 3 * MIB, (bytes) => bytes.fill(0), 64 * KIB),
  "a piece is another": (image) => {
    const bytes = Buffer.alloc(64 * KIB);
    change(image, MIB, (found) => found.copy(bytes), bytes.length);
    change(image, 2 * MIB, (found) => bytes.copy(found), bytes.length);
  },
  "the end of what is known of it is another": (_, record) =>
    change(record, statSync(record).size - 1, flip),
  "what is known of a piece is another": (_, record) =>
    change(record, statSync(record).size - 100, flip),
  "what is known of it ends too soon": (_, record) =>
    truncateSync(record, statSync(record).size - 44),
  "what is known of it is more than it was": (_, record) => appendFileSync(record, "more"),
  "what is known of it is more than memory holds": (_, record) => truncateSync(record, 2 ** 33),
};

/** What is found as soon as it is wanted, without reading it. */
const plainHarms: Record<string, (image: string, record: string) => void> = {
  "it is cut off": (image) => writable(image, () => truncateSync(image, 8 * MIB - 1)),
  "it is empty": (image) => writable(image, () => truncateSync(image, 0)),
  "it is longer": (image) => writable(image, () => appendFileSync(image, "x")),
  "its group may write to it": (image) => chmodSync(image, 0o620),
  "anyone may write to it": (image) => chmodSync(image, 0o602),
};

/** What has an image be none. */
const losses: Record<string, (image: string, record: string) => void> = {
  "it is deleted": (image) => rmSync(image),
  "what is known of it is deleted": (_, record) => rmSync(record),
  "both are deleted": (image, record) => {
    rmSync(image);
    rmSync(record);
  },
  "it is a link": (image) => {
    renameSync(image, path("moved"));
    symlinkSync(path("moved"), image);
  },
  "it is a link to nothing": (image) => {
    rmSync(image);
    symlinkSync(path("nothing"), image);
  },
  "what is known of it is empty": (_, record) => truncateSync(record, 0),
  "what is known of it is no JSON": (_, record) => change(record, 0, flip),
  "what is known of it is of another": (_, record) =>
    writeFileSync(record, readFileSync(recordIn(join(record, "../.."), other.digest))),
};

/** Throws unless the image is got anew, as it should be, and then stays. */
async function expectRefilled(cache: ImageCache): Promise<void> {
  const image = await cache.get(one.snapshot);
  expect(image.hit).toBe(false);
  await expectImage(image.path, one);
  await image.release();
  expect((await cache.get(one.snapshot)).hit).toBe(true);
  expect(await cache.verify()).toEqual({ good: 2, damaged: [] });
  expect(strayFiles(cache.directory)).toEqual([]);
}

const placesOf = ({ directory }: ImageCache) =>
  [imageIn(directory, one.digest), recordIn(directory, one.digest)] as const;

describe("verify", () => {
  test("finds nothing wrong with images that nobody touched", async () => {
    const cache = await filledCache();
    expect(await cache.verify()).toEqual({ good: 2, damaged: [] });
    expect((await cache.stats()).damaged).toBe(0);
    await cache.clear();
    expect(await cache.verify()).toEqual({ good: 0, damaged: [] });
  });

  test.each(Object.entries({ ...harms, ...plainHarms }))(
    "finds an image of which %s, which is got anew",
    async (_, harm) => {
      const damaged = recordEvents("hedgerow:cache:damaged");
      const cache = await filledCache();
      const { directory } = cache;
      harm(...placesOf(cache));
      expect(await cache.verify()).toEqual({ good: 1, damaged: [one.digest] });
      expect(digestsIn(directory)).toEqual([other.digest]);
      expect(strayFiles(directory)).toEqual([]);
      expect(damaged).toEqual([{ directory, digest: one.digest, reason: expect.any(String) }]);
      expect(await cache.stats()).toMatchObject({ damaged: 1, evictions: 0, entries: 1 });
      await expectRefilled(cache);
    },
  );

  test("has an image go that is in use, when it is used no more", async () => {
    const cache = await filledCache();
    const image = await cache.get(one.snapshot);
    change(image.path, MIB, flip);
    expect(await cache.verify()).toEqual({ good: 1, damaged: [one.digest] });
    expect(statSync(image.path).size).toBe(8 * MIB);
    await image.release();
    expect(strayFiles(cache.directory)).toEqual([]);
    await expectRefilled(cache);
  });

  test("ends when its caller wants", async () => {
    const cache = await filledCache();
    change(imageIn(cache.directory, one.digest), 0, flip);
    const signal = AbortSignal.abort(new Error("the caller's own"));
    expect(await rejectionOf(cache.verify({ signal }))).toBe(signal.reason);
    const controller = new AbortController();
    const verifying = rejectionOf(cache.verify({ signal: controller.signal, bytesPerSecond: 1 }));
    await sleep(50);
    controller.abort(signal.reason);
    expect(await verifying).toBe(signal.reason);
    expect(await cache.stats()).toMatchObject({ leases: 0, damaged: expect.any(Number) });
  });

  test("reads no faster than was said", async () => {
    const cache = await filledCache();
    const begun = performance.now();
    expect(await cache.verify({ bytesPerSecond: 2 * MIB })).toEqual({ good: 2, damaged: [] });
    // There is 1 MiB of data.
    expect(performance.now() - begun).toBeGreaterThan(400);
  });

  test("refuses what makes no sense", async () => {
    const cache = await filledCache();
    for (const bytesPerSecond of [0, -1, 1.5, Number.NaN, "1"]) {
      const options = { bytesPerSecond } as { bytesPerSecond: number };
      const error = await refusalOf(cache.verify(options), "ERR_ARGUMENT");
      expect(error.message).toContain("bytesPerSecond");
    }
    const signal = {} as AbortSignal;
    await refusalOf(cache.verify({ signal }), "ERR_ARGUMENT");
    await refusalOf(cache.verify(null as unknown as object), "ERR_ARGUMENT");
  });
});

describe("the next who wants it gets it anew, if", () => {
  test.each(Object.entries(plainHarms))("%s", async (_, harm) => {
    const damaged = recordEvents("hedgerow:cache:damaged");
    const cache = await filledCache();
    harm(...placesOf(cache));
    await expectRefilled(cache);
    expect(damaged.map(({ digest }) => digest)).toEqual([one.digest]);
    expect(await cache.stats()).toMatchObject({ damaged: 1, fills: 3, entries: 2 });
  });

  test.each(Object.entries(losses))("%s", async (_, lose) => {
    const cache = await filledCache();
    lose(...placesOf(cache));
    await expectRefilled(cache);
    expect(await cache.stats()).toMatchObject({ fills: 3, entries: 2 });
    // What a link led to is none of the cache's.
    expect(readFileSync(one.image).length).toBe(8 * MIB);
  });

  test.each(Object.entries(losses))("also after it was opened again: %s", async (_, lose) => {
    const before = await filledCache();
    await before.close();
    lose(...placesOf(before));
    const cache = await openCache(before.directory);
    await expectRefilled(cache);
  });

  test("it is deleted while it is in use", async () => {
    const cache = await filledCache();
    const image = await cache.get(one.snapshot);
    rmSync(image.path);
    await expectRefilled(cache);
    await image.release();
    await expectRefilledIsStill(cache);
  });
});

async function expectRefilledIsStill(cache: ImageCache): Promise<void> {
  const image = await cache.get(one.snapshot);
  expect(image.hit).toBe(true);
  await expectImage(image.path, one);
}

describe("an image that is lost", () => {
  test.each(Object.entries(losses))("is told of no more: %s", async (name, lose) => {
    const cache = await filledCache();
    lose(...placesOf(cache));
    // What is there no more is nothing to find.
    const isGone = /deleted/.test(name);
    expect(await cache.verify()).toEqual({ good: 1, damaged: isGone ? [] : [one.digest] });
    expect(await cache.has(one.snapshot)).toBe(false);
    expect((await cache.entries()).map(({ digest }) => digest)).toEqual([other.digest]);
    expect((await cache.stats()).entries).toBe(1);
  });
});

describe("in the background", () => {
  /** Waits until someone has the lock by which one at a time verifies. */
  async function untilVerified({ directory }: ImageCache): Promise<void> {
    await vi.waitUntil(
      () => {
        const ino = statSync(join(directory, "verifier"), { throwIfNoEntry: false })?.ino;
        return ino !== undefined && readFileSync("/proc/locks", "utf8").includes(`:${ino} `);
      },
      { timeout: 20_000 },
    );
  }

  test("a damaged image is found soon after the cache was opened", async () => {
    const before = await filledCache();
    change(imageIn(before.directory, one.digest), MIB, flip);
    await before.close();
    const cache = await openCache(before.directory, { verifyBytesPerSecond: 100 * MIB });
    await vi.waitUntil(() => digestsIn(cache.directory).length === 1, { timeout: 20_000 });
    expect(digestsIn(cache.directory)).toEqual([other.digest]);
    await vi.waitUntil(async () => (await cache.stats()).damaged === 1, { timeout: 20_000 });
  });

  test("one at a time looks, and another when that one has closed it", async () => {
    const slow = await filledCache({ verifyBytesPerSecond: 1 });
    const { directory } = slow;
    await untilVerified(slow);
    change(imageIn(directory, one.digest), MIB, flip);
    const fast = { verifyBytesPerSecond: 1000 * MIB };
    const second = await openCache(directory, fast);
    await sleep(300);
    expect(digestsIn(directory).length).toBe(2);
    await second.close();
    await slow.close();
    await openCache(directory, fast);
    await vi.waitUntil(() => digestsIn(directory).length === 1, { timeout: 20_000 });
  });

  test("what is looked at may be used, and let go of, and go", async () => {
    const cache = await filledCache({ verifyBytesPerSecond: 1 });
    await untilVerified(cache);
    const image = await cache.get(one.snapshot);
    await expectImage(image.path, one);
    await image.release();
    expect(await cache.clear()).toBe(2);
    await cache.close();
    expect(strayFiles(cache.directory)).toEqual([]);
  });
});
