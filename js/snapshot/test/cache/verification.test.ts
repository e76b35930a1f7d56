/** Damaged images are found, removed and restored again. */
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
import { ImageCache } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  copyCache,
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
import { openFiles } from "../support/open-files.js";
import { refusalOf } from "../support/refusal.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let [one, other] = [{} as Sample, {} as Sample];

beforeAll(async () => {
  const layout = { data: 512 * KIB, size: 8 * MIB, stride: MIB };
  [one, other] = (await makeSamples(path, ["one", "other"], layout)) as [Sample, Sample];
  const cache = await ImageCache.open(path("filled"), { maxBytes: 64 * MIB });
  for (const { snapshot } of [one, other]) await (await cache.get(snapshot)).release();
  await cache.close();
});

/** Opens a cache that contains both images, not in use. */
function filledCache(options = {}): Promise<ImageCache> {
  const directory = newDirectory();
  copyCache(path("filled"), directory);
  return openCache(directory, options);
}

/** Changes some bytes of a file, whatever its mode. */
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

/** Makes a file writable during an action. */
function writable(file: string, act: () => void): void {
  chmodSync(file, 0o600);
  act();
  chmodSync(file, 0o400);
}

/** Damage that only reading the whole image or record finds. */
const hiddenDamage: Record<string, (image: string, record: string) => void> = {
  "a bit has changed": (image) => change(image, 5 * MIB + 30_000, flip),
  "the first byte has changed": (image) => change(image, 0, flip),
  "the last byte has changed": (image) => change(image, 8 * MIB - 1, flip),
  "a hole contains a byte": (image) => change(image, MIB - 1, (bytes) => bytes.fill(1)),
  "a piece is zeros": (image) => change(image, 3 * MIB, (bytes) => bytes.fill(0), 64 * KIB),
  "a piece was replaced by another": (image) => {
    const bytes = Buffer.alloc(64 * KIB);
    change(image, MIB, (found) => found.copy(bytes), bytes.length);
    change(image, 2 * MIB, (found) => bytes.copy(found), bytes.length);
  },
  "the digest of the record has changed": (_, record) =>
    change(record, statSync(record).size - 1, flip),
  "the digest of a piece in the record has changed": (_, record) =>
    change(record, statSync(record).size - 100, flip),
  "the record is truncated": (_, record) => truncateSync(record, statSync(record).size - 44),
  "the record is longer": (_, record) => appendFileSync(record, "more"),
  "the record is larger than memory": (_, record) => truncateSync(record, 2 ** 33),
};

/** Damage that a hit finds without reading the image. */
const visibleDamage: Record<string, (image: string, record: string) => void> = {
  "the image is truncated": (image) => writable(image, () => truncateSync(image, 8 * MIB - 1)),
  "the image is empty": (image) => writable(image, () => truncateSync(image, 0)),
  "the image is longer": (image) => writable(image, () => appendFileSync(image, "x")),
  "the group can write to the image": (image) => chmodSync(image, 0o620),
  "anyone can write to the image": (image) => chmodSync(image, 0o602),
};

/** Damage that makes an image missing. */
const losses: Record<string, (image: string, record: string) => void> = {
  "the image is deleted": (image) => rmSync(image),
  "the record is deleted": (_, record) => rmSync(record),
  "image and record are deleted": (image, record) => {
    rmSync(image);
    rmSync(record);
  },
  "the image is a link": (image) => {
    renameSync(image, path("moved"));
    symlinkSync(path("moved"), image);
  },
  "the image is a dangling link": (image) => {
    rmSync(image);
    symlinkSync(path("nothing"), image);
  },
  "the record is empty": (_, record) => truncateSync(record, 0),
  "the record is not JSON": (_, record) => change(record, 0, flip),
  "the record is that of another image": (_, record) =>
    writeFileSync(record, readFileSync(recordIn(join(record, "../.."), other.digest))),
};

/** Throws unless the next `get` restores the image and later ones are hits. */
async function expectRestored(cache: ImageCache): Promise<void> {
  const image = await cache.get(one.snapshot, { workers: 1 });
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
  test("finds no damage in intact images", async () => {
    const cache = await filledCache();
    expect(await cache.verify()).toEqual({ good: 2, damaged: [] });
    expect((await cache.stats()).damaged).toBe(0);
    await cache.clear();
    expect(await cache.verify()).toEqual({ good: 0, damaged: [] });
  });

  test.each(Object.entries({ ...hiddenDamage, ...visibleDamage }))(
    "finds that %s, and the next get restores the image",
    async (_, damage) => {
      const events = recordEvents("hedgerow:cache:damaged");
      const cache = await filledCache();
      const { directory } = cache;
      damage(...placesOf(cache));
      expect(await cache.verify()).toEqual({ good: 1, damaged: [one.digest] });
      expect(digestsIn(directory)).toEqual([other.digest]);
      expect(strayFiles(directory)).toEqual([]);
      expect(events).toEqual([{ directory, digest: one.digest, reason: expect.any(String) }]);
      expect(await cache.stats()).toMatchObject({ damaged: 1, evictions: 0, entries: 1 });
      await expectRestored(cache);
    },
  );

  test("removes a damaged image that is in use when it is released", async () => {
    const cache = await filledCache();
    const image = await cache.get(one.snapshot);
    change(image.path, MIB, flip);
    expect(await cache.verify()).toEqual({ good: 1, damaged: [one.digest] });
    expect(statSync(image.path).size).toBe(8 * MIB);
    await image.release();
    expect(strayFiles(cache.directory)).toEqual([]);
    await expectRestored(cache);
  });

  test("cancels a verification", async () => {
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

  test("closes the image that it was to verify if the cache is removed", async () => {
    const cache = await filledCache();
    const { directory } = cache;
    // The first image takes half a second.
    const work = cache.verify({ bytesPerSecond: MIB });
    await sleep(100);
    rmSync(join(directory, "hedgerow-cache"));
    // Ends of leases look for images to evict.
    writeFileSync(join(directory, "excess"), "1");
    await refusalOf(work, "ERR_CACHE");
    expect(openFiles(directory).filter((file) => file.includes("images"))).toEqual([]);
  });

  test("reads no faster than bytesPerSecond", async () => {
    const cache = await filledCache();
    const begun = performance.now();
    expect(await cache.verify({ bytesPerSecond: 2 * MIB })).toEqual({ good: 2, damaged: [] });
    // There is 1 MiB of data.
    expect(performance.now() - begun).toBeGreaterThan(400);
  });
});

describe("get", () => {
  test.each(Object.entries(visibleDamage))("restores an image again if %s", async (_, damage) => {
    const events = recordEvents("hedgerow:cache:damaged");
    const cache = await filledCache();
    damage(...placesOf(cache));
    await expectRestored(cache);
    expect(events.map(({ digest }) => digest)).toEqual([one.digest]);
    expect(await cache.stats()).toMatchObject({ damaged: 1, fills: 1, entries: 2 });
  });

  test.each(Object.entries(losses))(
    "restores an image again if %s, and lists none until then",
    async (name, lose) => {
      const before = await filledCache();
      lose(...placesOf(before));
      // A cache that is opened later finds the same.
      await before.close();
      const cache = await openCache(before.directory);
      await expectRestored(cache);
      expect(await cache.stats()).toMatchObject({ fills: 1, entries: 2 });
      // The target of a link is unchanged.
      expect(readFileSync(one.image).length).toBe(8 * MIB);

      lose(...placesOf(cache));
      // Verification does not report deleted files.
      const isGone = /deleted/.test(name);
      expect(await cache.verify()).toEqual({ good: 1, damaged: isGone ? [] : [one.digest] });
      expect(await cache.has(one.snapshot)).toBe(false);
      expect((await cache.entries()).map(({ digest }) => digest)).toEqual([other.digest]);
      expect((await cache.stats()).entries).toBe(1);
    },
  );

  test("restores an image again that was deleted while in use", async () => {
    const cache = await filledCache();
    const image = await cache.get(one.snapshot);
    rmSync(image.path);
    await expectRestored(cache);
    await image.release();
    await expectHit(cache);
  });
});

async function expectHit(cache: ImageCache): Promise<void> {
  const image = await cache.get(one.snapshot);
  expect(image.hit).toBe(true);
  await expectImage(image.path, one);
}

describe("background verification", () => {
  /** Waits until background verification holds its lock. */
  async function untilVerified({ directory }: ImageCache): Promise<void> {
    await vi.waitUntil(
      () => {
        const ino = statSync(join(directory, "verifier"), { throwIfNoEntry: false })?.ino;
        return ino !== undefined && readFileSync("/proc/locks", "utf8").includes(`:${ino} `);
      },
      { timeout: 20_000 },
    );
  }

  test("finds a damaged image in the background after the cache was opened", async () => {
    const before = await filledCache();
    change(imageIn(before.directory, one.digest), MIB, flip);
    await before.close();
    const cache = await openCache(before.directory, { verifyBytesPerSecond: 100 * MIB });
    await vi.waitUntil(() => digestsIn(cache.directory).length === 1, { timeout: 20_000 });
    expect(digestsIn(cache.directory)).toEqual([other.digest]);
    await vi.waitUntil(async () => (await cache.stats()).damaged === 1, { timeout: 20_000 });
  });

  test("verifies in the background in one cache at a time", async () => {
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

  test("lets images be used and removed while it verifies them in the background", async () => {
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
