/** The options of a cache, and the directories that it accepts. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type CacheOptions, ImageCache } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  expectImage,
  MIB,
  makeSample,
  newDirectories,
  openCache,
  type Sample,
} from "../support/cache.js";
import { run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
const OPTIONS = { maxBytes: 16 * MIB };

let [directory, sample] = ["", {} as Sample];

beforeAll(async () => {
  sample = await makeSample(path, "image");
});

beforeEach(() => {
  directory = newDirectory();
});

/** Throws unless a directory is refused and left unchanged. */
async function expectRefused(place: string, ...parts: string[]): Promise<void> {
  const list = () => (statSync(place).isDirectory() ? readdirSync(place) : []);
  const before = existsSync(place) ? list() : undefined;
  const error = await refusalOf(ImageCache.open(place, OPTIONS), "ERR_CACHE");
  for (const part of [place, ...parts]) expect(error.message).toContain(part);
  expect(existsSync(place) ? list() : undefined).toEqual(before);
}

describe("options", () => {
  test("needs a limit", async () => {
    const options = {} as CacheOptions;
    const error = await refusalOf(ImageCache.open(directory, options), "ERR_ARGUMENT");
    expect(error.message).toMatch(/^maxBytes: expected .*, found /);
    expect(existsSync(directory)).toBe(false);
  });

  test("accepts options at their limits", async () => {
    await openCache(directory, { maxBytes: MIB, create: true, verifyBytesPerSecond: 1 });
    const options = { maxBytes: Number.MAX_SAFE_INTEGER, verifyBytesPerSecond: undefined };
    const cache = await openCache(directory, options);
    expect((await cache.stats()).maxBytes).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("a directory", () => {
  test("creates a directory and its parents", async () => {
    const cache = await openCache(join(directory, "a", "b"));
    expect(cache.directory).toBe(join(realpathSync(directory), "a", "b"));
    for (const name of ["", "a", "a/b"]) {
      expect(statSync(join(directory, name)).mode & 0o777, name).toBe(0o700);
    }
  });

  test("makes an empty directory a cache, and keeps its mode", async () => {
    mkdirSync(directory, { mode: 0o755 });
    const cache = await openCache(directory);
    await expectImage((await cache.get(sample.snapshot)).path, sample);
    expect(statSync(directory).mode & 0o777).toBe(0o755);
  });

  test("resolves a link to a directory", async () => {
    mkdirSync(directory, { mode: 0o700 });
    symlinkSync(directory, `${directory}-link`);
    const cache = await openCache(`${directory}-link`);
    expect(cache.directory).toBe(realpathSync(directory));
    expect(existsSync(join(directory, "hedgerow-cache"))).toBe(true);
  });

  test.each([0o720, 0o702, 0o777, 0o1777])(
    "refuses a directory with mode %o, which others can write to",
    async (mode) => {
      mkdirSync(directory);
      chmodSync(directory, mode);
      await expectRefused(directory, "only its owner can write to", (mode & 0o777).toString(8));
    },
  );

  test("refuses a cache or a folder in it that others can write to by now", async () => {
    await (await openCache(directory)).close();
    for (const name of ["", "images", "filling"]) {
      const place = join(directory, name);
      chmodSync(place, 0o770);
      const error = await refusalOf(ImageCache.open(directory, OPTIONS), "ERR_CACHE");
      expect(error.message).toContain(place);
      chmodSync(place, 0o700);
    }
    await openCache(directory);
  });

  test("refuses a directory of another user", async () => {
    mkdirSync(directory, { mode: 0o700 });
    chownSync(directory, 65534, 65534);
    await expectRefused(directory, "found owner 65534");
    chownSync(directory, 0, 0);
    await (await openCache(directory)).close();
    chownSync(join(directory, "images"), 65534, 65534);
    const error = await refusalOf(ImageCache.open(directory, OPTIONS), "ERR_CACHE");
    expect(error.message).toContain("found owner 65534");
  });

  test("refuses a directory with other files, and leaves it unchanged", async () => {
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(join(directory, "someone's"), "something");
    await expectRefused(directory, `"someone's"`);
    expect(readFileSync(join(directory, "someone's"), "utf8")).toBe("something");
  });

  test("refuses a file, a dangling link and a path below a file", async () => {
    writeFileSync(directory, "something");
    await expectRefused(directory);
    expect(readFileSync(directory, "utf8")).toBe("something");
    await expectRefused(join(directory, "a"));
    symlinkSync(path("nothing"), `${directory}-link`);
    await expectRefused(`${directory}-link`);
    expect(existsSync(path("nothing"))).toBe(false);
  });

  test("creates nothing when create is false", async () => {
    const options = { ...OPTIONS, create: false };
    const error = await refusalOf(ImageCache.open(directory, options), "ERR_CACHE");
    expect(error.message).toContain("expected a cache, found nothing");
    expect(existsSync(directory)).toBe(false);
    mkdirSync(directory, { mode: 0o700 });
    const none = await refusalOf(ImageCache.open(directory, options), "ERR_CACHE");
    expect(none.message).toContain("expected a cache, found a directory that is not one");
    expect(readdirSync(directory)).toEqual([]);
    await (await openCache(directory)).close();
    await openCache(directory, { create: false });
  });

  test.each(["hedgerow image cache 2\n", "something else", "hedgerow image cache 1\n2"])(
    "refuses a cache of another kind: %j",
    async (kind) => {
      await (await openCache(directory)).close();
      writeFileSync(join(directory, "hedgerow-cache"), kind);
      await expectRefused(directory, JSON.stringify(kind));
      expect(readFileSync(join(directory, "hedgerow-cache"), "utf8")).toBe(kind);
    },
  );

  test("completes a kind that was only partly written", async () => {
    const cache = await openCache(directory);
    await (await cache.get(sample.snapshot)).release();
    await cache.close();
    const kind = readFileSync(join(directory, "hedgerow-cache"), "utf8");
    for (const length of [0, 5]) {
      truncateSync(join(directory, "hedgerow-cache"), length);
      const again = await openCache(directory);
      expect((await again.get(sample.snapshot)).hit).toBe(true);
      await again.close();
      expect(readFileSync(join(directory, "hedgerow-cache"), "utf8")).toBe(kind);
    }
  });

  test("refuses a cache whose lock file is a link", async () => {
    await (await openCache(directory)).close();
    writeFileSync(path("elsewhere"), "");
    rmSync(join(directory, "hedgerow-cache"));
    symlinkSync(path("elsewhere"), join(directory, "hedgerow-cache"));
    await expectRefused(directory);
    expect(readFileSync(path("elsewhere"), "utf8")).toBe("");
  });

  test("keeps its images when the source index is lost or damaged", async () => {
    const cache = await openCache(directory);
    await (await cache.get(sample.snapshot)).release();
    await cache.close();
    const sources = join(directory, "sources");
    const { size } = statSync(sources);
    const damages = [
      () => rmSync(sources),
      () => truncateSync(sources, 100),
      () => writeFileSync(sources, Buffer.alloc(size, 1)),
    ];
    for (const damage of damages) {
      damage();
      const again = await openCache(directory);
      expect(statSync(sources).size).toBe(size);
      expect((await again.get(sample.snapshot)).hit).toBe(true);
      await again.close();
    }
  });

  test("reports a cache that was removed while open, and can be opened again", async () => {
    const cache = await openCache(directory);
    await (await cache.get(sample.snapshot)).release();
    rmSync(directory, { recursive: true });
    await refusalOf(cache.stats(), "ERR_CACHE");
    await refusalOf(cache.clear(), "ERR_CACHE");
    const error = await rejectionOf(cache.get(sample.snapshot));
    expect(error).toMatchObject({ name: "SnapshotError", cause: { code: "ENOENT" } });
    await cache.close();
    const again = await openCache(directory);
    expect((await again.get(sample.snapshot)).hit).toBe(false);
  });
});

test("refuses to open a cache without koffi", async () => {
  mkdirSync(directory);
  const target = join(directory, "cache");
  const job = { call: "openCache", source: "", target } as const;
  const { error, names } = await run(job, { preload: "no-extents" });
  expect(error).toMatchObject({ code: "ERR_CACHE" });
  expect(error?.message).toContain("koffi");
  expect(names).toEqual([]);
});
