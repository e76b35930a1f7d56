/** The methods of a cache: leases, removal, entries, statistics and closing. */
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type CachedImage, ImageCache, inspectSnapshot } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  digestsIn,
  expectImage,
  filesIn,
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
import { refusalOf } from "../support/refusal.js";
import { expectNoConnections, faultsOf, isPart, originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let [one, other] = [{} as Sample, {} as Sample];

beforeAll(async () => {
  [one, other] = (await makeSamples(path, ["one", "other"], {
    data: 256 * KIB,
    size: 8 * MIB,
    stride: MIB,
  })) as [Sample, Sample];
});

describe("get", () => {
  test("returns the image of a snapshot with its path, size and metadata", async () => {
    const cache = await openCache(newDirectory());
    const image = await cache.get(one.snapshot);
    expect(image.hit).toBe(false);
    expect(image.path).toBe(imageIn(cache.directory, one.digest));
    expect(image.info).toEqual(await inspectSnapshot(one.snapshot));
    const record = recordIn(cache.directory, one.digest);
    expect(image.bytes).toBe((statSync(image.path).blocks + statSync(record).blocks) * 512);
    expect(image.bytes).toBeLessThan(512 * KIB);
    await expectImage(image.path, one);
    const again = await cache.get(one.snapshot);
    const { path: place, bytes, info } = image;
    expect(again).toMatchObject({ hit: true, path: place, bytes, info });
  });

  test("returns images that are empty or consist of one hole", async () => {
    const cache = await openCache(newDirectory());
    for (const size of [0, 5 * MIB]) {
      const [empty] = (await makeSamples(path, [`hole-${size}`], { data: 0, size })) as [Sample];
      expect((await cache.get(empty.snapshot)).hit).toBe(false);
      const image = await cache.get(empty.snapshot);
      expect(image).toMatchObject({ hit: true, bytes: 4 * KIB });
      await expectImage(image.path, empty);
      expect(await cache.verify()).toMatchObject({ damaged: [] });
    }
  });

  test("releases an image at the end of an await using block", async () => {
    const cache = await openCache(newDirectory());
    {
      await using _ = await cache.get(one.snapshot);
      expect((await cache.stats()).leases).toBe(1);
    }
    expect((await cache.stats()).leases).toBe(0);
  });
});

describe("files and folders", () => {
  const modeOf = (name: string) => (lstatSync(name).mode & 0o777).toString(8);

  test("gives files and folders private modes whatever the umask", async () => {
    const directory = newDirectory();
    const before = process.umask(0);
    try {
      const cache = await openCache(directory, { maxBytes: MIB, verifyBytesPerSecond: 1 });
      await cache.get(one.snapshot);
      await cache.get(other.snapshot);
      await cache.get((await makeSamples(path, ["third"], { data: 640 * KIB }))[0]!.snapshot);
      await cache.get(path("no such snapshot")).catch(() => {});
      const { digest } = other;
      await refusalOf(
        cache.get(path("third.vhs"), { digest: "0".repeat(64) }),
        "ERR_SNAPSHOT_DIGEST",
      );
      await cache.delete(other.snapshot, { digest });
      await vi.waitUntil(() => existsSync(join(directory, "verifier")), { timeout: 20_000 });
    } finally {
      process.umask(before);
    }
    expect(modeOf(directory)).toBe("700");
    const modes = Object.fromEntries(
      filesIn(directory).map((name) => {
        const [folder = ""] = name.split("/");
        const kind = /[0-9a-f]{64}/.test(name) ? name.replace(/^.*\./, ".") : name;
        return [kind === name ? name : `${folder}/*${kind}`, modeOf(join(directory, name))];
      }),
    );
    expect(modes).toEqual({
      ...{ "hedgerow-cache": "600", sources: "600", verifier: "600", "totals.json": "600" },
      ...{ excess: "600", images: "700", "images/*.img": "400", "images/*.record": "600" },
      "images/*.lease": "600",
      filling: "700",
    });
  });

  test("leaves no files of images that were removed", async () => {
    const cache = await openCache(newDirectory());
    await (await cache.get(one.snapshot)).release();
    const fixed = ["filling", "hedgerow-cache", "images", "sources", "totals.json"];
    const images = ["img", "lease", "record"].map((kind) => `images/${one.digest}.${kind}`);
    expect(filesIn(cache.directory)).toEqual([...fixed, ...images].sort());
    await cache.clear();
    expect(filesIn(cache.directory)).toEqual(fixed);
  });
});

describe("an image that is removed while it is in use", () => {
  const ways: Record<string, (cache: ImageCache) => Promise<unknown>> = {
    delete: (cache) => cache.delete(one.snapshot),
    clear: (cache) => cache.clear(),
  };

  test.each(Object.keys(ways))(
    "%s keeps an image for its users and hides it from others",
    async (way) => {
      const cache = await openCache(newDirectory());
      const [first, second] = [await cache.get(one.snapshot), await cache.get(one.snapshot)];
      expect(await ways[way]!(cache)).toBe(way === "clear" ? 1 : true);
      expect(await cache.has(one.snapshot)).toBe(false);
      expect(await cache.entries()).toEqual([]);
      expect(await cache.stats()).toMatchObject({ entries: 0, leases: 1 });
      await expectImage(first.path, one);
      await first.release();
      await expectImage(second.path, one);
      await second.release();
      expect(strayFiles(cache.directory)).toEqual([]);
      expect(existsSync(first.path)).toBe(false);
      const again = await cache.get(one.snapshot);
      expect(again.hit).toBe(false);
      await expectImage(again.path, one);
    },
  );

  test("keeps a deleted image for its users although it was restored again", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const old = await cache.get(one.snapshot);
    await cache.delete(one.snapshot);
    const renewed = await cache.get(one.snapshot);
    expect(renewed.hit).toBe(false);
    await expectImage(renewed.path, one);
    await expectImage(old.path, one);
    await renewed.release();
    await cache.prune(0);
    await expectImage(old.path, one);
    await old.release();
    await cache.prune(0);
    expect(strayFiles(directory)).toEqual([]);
    expect(digestsIn(directory)).toEqual([]);
  });

  test("keeps an image for its users when another cache of the directory clears it", async () => {
    const directory = newDirectory();
    const [first, second] = [await openCache(directory), await openCache(directory)];
    const image = await first.get(one.snapshot);
    expect(await second.clear()).toBe(1);
    await expectImage(image.path, one);
    await image.release();
    expect(strayFiles(directory)).toEqual([]);
    expect(digestsIn(directory)).toEqual([]);
  });
});

describe("entries and stats", () => {
  test("lists images with their sources, the most recently used first", async () => {
    const cache = await openCache(newDirectory());
    const begun = Date.now();
    expect(await cache.entries()).toEqual([]);
    const origin = await originOf({ "/a.vhs": one.snapshot });
    const url = origin.url("/a.vhs?signature=5ecret#part");
    await cache.get(url);
    await cache.get(other.snapshot);
    const entryOf = ({ digest }: Sample, source: string) => ({
      ...{ digest, source, imageSize: 8 * MIB, lastUsed: expect.any(Date) },
      bytes: [imageIn, recordIn].reduce(
        (sum, file) => sum + statSync(file(cache.directory, digest)).blocks * 512,
        0,
      ),
    });
    const [mine, theirs] = [
      entryOf(one, origin.url("/a.vhs").href),
      entryOf(other, other.snapshot),
    ];
    expect(await cache.entries()).toEqual([theirs, mine]);
    await cache.get(url);
    const entries = await cache.entries();
    expect(entries).toEqual([mine, theirs]);
    for (const { lastUsed } of entries) {
      expect(lastUsed.getTime()).toBeGreaterThanOrEqual(begun - 1);
      expect(lastUsed.getTime()).toBeLessThanOrEqual(Date.now() + 1);
    }
  });

  test("counts the events of this process and of all processes", async () => {
    const directory = newDirectory();
    const first = await openCache(directory);
    await first.get(one.snapshot);
    await first.get(one.snapshot);
    await refusalOf(first.get(path("no such snapshot")), "ERR_SOURCE");
    const stats = await first.stats();
    expect(stats).toMatchObject({
      ...{ hits: 1, misses: 1, fills: 1, failures: 0, evictions: 0, damaged: 0, entries: 1 },
      ...{ maxBytes: 64 * MIB, excessBytes: 0, leases: 1, hit: { count: 1 }, miss: { count: 1 } },
    });
    expect(stats.miss.longest).toBe(stats.miss.total);
    expect(stats.miss.total).toBeGreaterThan(0);
    expect(stats.wait.count).toBe(0);
    await first.close();
    const second = await openCache(directory);
    const none = { hits: 0, misses: 0, fills: 0, failures: 0, evictions: 0, damaged: 0 };
    const totals = { ...none, hits: 1, misses: 1, fills: 1 };
    expect(await second.stats()).toMatchObject({ ...none, entries: 1, leases: 0, totals });
    // Invalid totals count as zero.
    for (const text of ["", "{", "null", '{"hits":"many","misses":-1,"fills":1.5}']) {
      writeFileSync(join(directory, "totals.json"), text);
      expect((await second.stats()).totals).toEqual(none);
    }
  });

  test("counts a fill that fails", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": (await large()).snapshot });
    origin.faults = faultsOf(isPart, { status: 403 });
    await refusalOf(cache.get(origin.url("/a.vhs")), "ERR_SOURCE");
    expect(await cache.stats()).toMatchObject({ hits: 0, misses: 0, fills: 0, failures: 1 });
  });
});

/** A snapshot that is larger than its end, which is fetched first. */
async function large(): Promise<Sample> {
  const [sample] = await makeSamples(path, ["large"], { data: 3 * MIB });
  return sample as Sample;
}

describe("close", () => {
  test("rejects all calls after close, and can be called again", async () => {
    const cache = await openCache(newDirectory());
    const image = await cache.get(one.snapshot);
    await cache.close();
    await cache.close();
    await cache[Symbol.asyncDispose]();
    await image.release();
    await image[Symbol.asyncDispose]();
    const calls: (() => Promise<unknown>)[] = [
      () => cache.get(one.snapshot),
      () => cache.has(one.snapshot),
      () => cache.delete(one.snapshot),
      () => cache.clear(),
      () => cache.prune(),
      () => cache.entries(),
      () => cache.verify(),
      () => cache.stats(),
    ];
    for (const call of calls) {
      const error = await refusalOf(call(), "ERR_CACHE");
      expect(error.message).toContain("has been closed");
    }
  });

  test("ends all leases when a cache is closed", async () => {
    const directory = newDirectory();
    const [first, second] = [await openCache(directory), await openCache(directory)];
    const images: CachedImage[] = [await first.get(one.snapshot), await first.get(other.snapshot)];
    const open = readFileSync(images[0]!.path);
    await first.close();
    await second.prune(0);
    expect(digestsIn(directory)).toEqual([]);
    expect(open.length).toBe(8 * MIB);
  });

  test("closes a cache at the end of an await using block", async () => {
    let cache: ImageCache;
    {
      await using opened = await ImageCache.open(newDirectory(), { maxBytes: MIB });
      cache = opened;
      await cache.get(one.snapshot);
    }
    await refusalOf(cache.stats(), "ERR_CACHE");
  });

  test("rejects pending restores on close, and leaves no files", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const { snapshot } = await large();
    const origin = await originOf({ "/a.vhs": snapshot }, { conditions: { bytesPerSecond: 5e5 } });
    const getting = [1, 2, 3].map(() => refusalOf(cache.get(origin.url("/a.vhs")), "ERR_CACHE"));
    await vi.waitUntil(() => origin.requests.some(isPart), { timeout: 20_000 });
    await cache.close();
    await Promise.all(getting);
    expect(strayFiles(directory)).toEqual([]);
    await expectNoConnections(origin);
  });

  test("does not wait on close for a server that does not answer", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": one.snapshot });
    const url = origin.url("/a.vhs");
    await (await cache.get(url)).release();
    origin.faults = () => ({ noAnswer: true });
    const before = origin.requestCount;
    const waiting = [
      refusalOf(cache.get(url), "ERR_CACHE"),
      refusalOf(cache.has(url), "ERR_CACHE"),
      refusalOf(cache.delete(url), "ERR_CACHE"),
    ];
    await vi.waitUntil(() => origin.requestCount >= before + waiting.length, { timeout: 20_000 });
    await cache.close();
    await Promise.all(waiting);
    await expectNoConnections(origin);
  });

  test("cancels a verification on close", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    await cache.get(one.snapshot);
    const verifying = refusalOf(cache.verify({ bytesPerSecond: 1 }), "ERR_CACHE");
    await cache.close();
    await verifying;
  });

  test("leaves the directory unchanged on close", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    await cache.get(one.snapshot);
    const before = filesIn(directory);
    await cache.close();
    expect(filesIn(directory)).toEqual(before);
    const again = await openCache(directory);
    const image = await again.get(one.snapshot);
    expect(image.hit).toBe(true);
    expect(() => accessSync(image.path, constants.R_OK)).not.toThrow();
  });
});
