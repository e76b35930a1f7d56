/** Links, folders, pipes and sockets under every name in a cache do not keep it from working. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { type CacheOptions, ImageCache } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { trials } from "../../../../tests/support/trials.js";
import { Layout } from "../../dist/cache/files.js";
import {
  copyCache,
  expectImage,
  MIB,
  makeSamples,
  newDirectories,
  openCache,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { refusalOf } from "../support/refusal.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);

/** A file outside the cache, which must not change. */
const file = path("outside");
const CONTENT = "unchanged";

let [one, other, third] = [{} as Sample, {} as Sample, {} as Sample];
let layout = new Layout("");

beforeAll(async () => {
  [one, other, third] = (await makeSamples(path, ["one", "other", "third"])) as [
    Sample,
    Sample,
    Sample,
  ];
  const cache = await ImageCache.open(path("filled"), { maxBytes: 64 * MIB });
  await (await cache.get(one.snapshot, { workers: 1 })).release();
  await cache.close();
});

beforeEach(() => {
  writeFileSync(file, CONTENT);
  layout = new Layout(newDirectory());
});

/** Each creates something at a path that is not a regular file. */
const kinds: Readonly<Record<string, (place: string) => void | Promise<void>>> = {
  "a link to a file": (place) => symlinkSync(file, place),
  "a link to nothing": (place) => symlinkSync(path("nothing"), place),
  "a folder with files": (place) => {
    mkdirSync(join(place, "in it"), { recursive: true });
    writeFileSync(join(place, "in it", "file"), "a file");
  },
  "a pipe": (place) => void execFileSync("mkfifo", [place]),
  "a socket": async (place) => {
    // The path of a socket must be short. Closing the server deletes the file.
    const server = createServer();
    const cwd = process.cwd();
    process.chdir(dirname(place));
    try {
      await new Promise<void>((resolve) =>
        server.listen(place.slice(dirname(place).length + 1), resolve),
      );
    } finally {
      process.chdir(cwd);
    }
    onTestFinished(() => void server.close());
  },
};

/** A reservation in the name of a partial image. */
const RESERVED = 4096;

/** All names in a cache: fixed ones, of an image, of a missing image, and of a restore. */
const names: Readonly<Record<string, () => string>> = {
  excess: () => layout.excess,
  "totals.json": () => layout.totals,
  "totals.json.new": () => layout.newTotals,
  verifier: () => layout.verifier,
  sources: () => layout.sources,
  "the image": () => layout.image(one.digest),
  "the record": () => layout.record(one.digest),
  "the lease": () => layout.lease(one.digest),
  "a missing image": () => layout.image(other.digest),
  "the record of a missing image": () => layout.record(other.digest),
  "the lease of a missing image": () => layout.lease(other.digest),
  "a lock file": () => layout.claim(other.digest),
  "a partial image": () => layout.partial(other.digest, RESERVED),
  "an unpublished record": () => layout.newRecord(other.digest),
  "another file of a key": () => join(layout.filling, `${other.digest}.else`),
};

/** Opens a cache that contains the first image. Background verification uses the image for a moment. */
function filled(options: Partial<CacheOptions> = { verifyBytesPerSecond: MIB }) {
  copyCache(path("filled"), layout.directory);
  return openCache(layout.directory, options);
}

async function replace(
  make: (place: string) => void | Promise<void>,
  place: string,
): Promise<void> {
  rmSync(place, { recursive: true, force: true });
  await make(place);
}

/** Throws unless all methods of a cache work for these images. */
async function expectWorks(cache: ImageCache): Promise<void> {
  const samples = [one, other, third].slice(0, trials({ few: 2, all: 3 }));
  for (const sample of samples) {
    const image = await cache.get(sample.snapshot, { digest: sample.digest, workers: 1 });
    await expectImage(image.path, sample);
    expect((await cache.get(sample.snapshot)).hit).toBe(true);
    await image.release();
  }
  expect(await cache.entries()).toHaveLength(samples.length);
  expect(await cache.verify()).toEqual({ good: samples.length, damaged: [] });
  expect(await cache.delete(other.snapshot)).toBe(true);
}

/** Throws unless opening a cache again removes irregular files and changes nothing outside. */
async function expectNothingLeft(): Promise<void> {
  await (await openCache(layout.directory)).close();
  // That folder is removed when background verification starts.
  const left = strayFiles(layout.directory).filter((name) => !name.startsWith("verifier/"));
  expect(left).toEqual([]);
  expectUnharmed();
}

/** Throws if anything outside the cache has changed. */
function expectUnharmed(): void {
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
  expect(existsSync(path("nothing"))).toBe(false);
}

/**
 * The kinds to try for one of the three uses of a name. `npm test` tries two uses of each name with one kind each, which
 * change from name to name, and `npm run verify` all of them.
 */
function kindsFor(name: string, use: 0 | 1 | 2) {
  const index = Object.keys(names).indexOf(name);
  const all = Object.entries(kinds);
  const rotated = all.map((_, at) => all[(at + index + 2 * use) % all.length]!);
  const few = index % 3 === use ? 0 : 1;
  return rotated.slice(0, trials({ few, all: all.length }));
}

describe.each(Object.keys(names))("in the place of %s", (name) => {
  test.each(kindsFor(name, 0))("opens and uses a cache with %s there", async (_, make) => {
    await (await filled()).close();
    await replace(make, names[name]!());
    const cache = await openCache(layout.directory, { verifyBytesPerSecond: MIB });
    await expectWorks(cache);
    await cache.close();
    await expectNothingLeft();
  });

  test.each(kindsFor(name, 1))("uses an open cache after %s appeared there", async (_, make) => {
    const cache = await filled();
    await replace(make, names[name]!());
    await expectWorks(cache);
    expectUnharmed();
  });

  test.each(kindsFor(name, 2))("prunes and clears a cache with %s there", async (_, make) => {
    // An image in use would not be pruned.
    const cache = await filled({});
    await replace(make, names[name]!());
    await cache.stats();
    await cache.prune(0);
    expect(await cache.clear()).toBe(0);
    expect(await cache.entries()).toEqual([]);
    await replace(make, names[name]!());
    await cache.clear();
    await cache.close();
    await expectNothingLeft();
  });
});

test.each(Object.entries(kinds))(
  "removes %s in the place of the excess file when there is no excess",
  async (_, make) => {
    const cache = await openCache(layout.directory, { maxBytes: 2 * MIB });
    await replace(make, layout.excess);
    await (await cache.get(one.snapshot, { workers: 1 })).release();
    expect(existsSync(layout.excess)).toBe(false);
    expectUnharmed();
  },
);

test.each(Object.entries(kinds))("replaces %s in the place of the totals", async (_, make) => {
  await (await filled()).close();
  for (const place of [layout.totals, layout.newTotals]) {
    await replace(make, place);
    const cache = await openCache(layout.directory);
    await (await cache.get(one.snapshot, { workers: 1 })).release();
    await cache.close();
    expect(JSON.parse(readFileSync(layout.totals, "utf8"))).toMatchObject({
      hits: expect.any(Number),
    });
  }
  expectUnharmed();
});

test.each(Object.entries(kinds))(
  "refuses a cache with %s in the place of the lock file",
  async (_, make) => {
    await (await filled()).close();
    await replace(make, layout.lock);
    await refusalOf(ImageCache.open(layout.directory, { maxBytes: MIB }), "ERR_CACHE");
    expectUnharmed();
  },
);

test("does not write through a link in the place of a record", async () => {
  const cache = await openCache(layout.directory);
  symlinkSync(file, layout.newRecord(one.digest));
  const image = await cache.get(one.snapshot, { workers: 1 });
  await expectImage(image.path, one);
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
});
