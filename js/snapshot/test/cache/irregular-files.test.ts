/** What is no file in the place of one, at every name that a cache has: it keeps nobody from using the cache. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { ImageCache } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { Layout } from "../../dist/cache/directory/layout.js";
import {
  expectImage,
  MIB,
  makeSamples,
  newDirectories,
  openCache,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { refusalOf } from "../support/refusal.js";

vi.setConfig({ testTimeout: 30_000 });

const path = temporaryFolder();
const newDirectory = newDirectories(path);

/** What is outside of the cache, and must stay as it is. */
const file = path("someone's");
const CONTENT = "someone's own";

let [one, other, third] = [{} as Sample, {} as Sample, {} as Sample];
let layout = new Layout("");

beforeAll(async () => {
  [one, other, third] = (await makeSamples(path, ["one", "other", "third"])) as [
    Sample,
    Sample,
    Sample,
  ];
});

beforeEach(() => {
  writeFileSync(file, CONTENT);
  layout = new Layout(newDirectory());
});

/** Each makes something that is no file at a path. */
const kinds: Readonly<Record<string, (place: string) => void | Promise<void>>> = {
  "a link to a file": (place) => symlinkSync(file, place),
  "a link to nothing": (place) => symlinkSync(path("nothing"), place),
  "a folder with files": (place) => {
    mkdirSync(join(place, "in it"), { recursive: true });
    writeFileSync(join(place, "in it", "file"), "a file");
  },
  "a pipe": (place) => void execFileSync("mkfifo", [place]),
  "a socket": async (place) => {
    // The path of a socket is short; the file goes when it is closed.
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

/** How much an image is promised: what is of no use to others is of none here. */
const PROMISED = 4096;

/** All names that there are, of an image that is there, and of what is filled. */
const places: Readonly<Record<string, () => string>> = {
  excess: () => layout.excess,
  "totals.json": () => layout.totals,
  "totals.json.new": () => layout.newTotals,
  verifier: () => layout.verifier,
  sources: () => layout.sources,
  "the image": () => layout.image(one.digest),
  "the record": () => layout.record(one.digest),
  "the lease": () => layout.lease(one.digest),
  "the image of what is not there": () => layout.image(other.digest),
  "the record of what is not there": () => layout.record(other.digest),
  "the lease of what is not there": () => layout.lease(other.digest),
  "a claim": () => layout.claim(other.digest),
  "a note of a failure": () => layout.failure(other.digest),
  "an image that is not whole": () => layout.partial(other.digest, PROMISED),
  "a record that is not one yet": () => layout.newRecord(other.digest),
  "another file of a claim": () => join(layout.filling, `${other.digest}.else`),
};

/** A cache that has the first image, which nobody uses. */
async function filled(): Promise<ImageCache> {
  const cache = await openCache(layout.directory, { verifyBytesPerSecond: MIB });
  await (await cache.get(one.snapshot)).release();
  return cache;
}

async function harm(make: (place: string) => void | Promise<void>, place: string): Promise<void> {
  rmSync(place, { recursive: true, force: true });
  await make(place);
}

/** Has a cache do all that it can, and throws unless it does. */
async function expectWorks(cache: ImageCache): Promise<void> {
  for (const sample of [one, other, third]) {
    const image = await cache.get(sample.snapshot, { digest: sample.digest });
    await expectImage(image.path, sample);
    expect((await cache.get(sample.snapshot)).hit).toBe(true);
    await image.release();
  }
  expect(await cache.entries()).toHaveLength(3);
  expect(await cache.verify()).toEqual({ good: 3, damaged: [] });
  expect(await cache.delete(other.snapshot)).toBe(true);
}

/** Throws unless a cache that is opened once more leaves nothing of what was wrong, and nothing outside has changed. */
async function expectNothingLeft(): Promise<void> {
  await (await openCache(layout.directory)).close();
  // That is opened by who verifies in the background.
  const left = strayFiles(layout.directory).filter((name) => !name.startsWith("verifier/"));
  expect(left).toEqual([]);
  expectUnharmed();
}

/** Throws unless nothing outside of the cache has changed. */
function expectUnharmed(): void {
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
  expect(existsSync(path("nothing"))).toBe(false);
}

describe.each(Object.keys(places))("in the place of %s", (name) => {
  test.each(Object.entries(kinds))(
    "%s keeps nobody from opening a cache and using it",
    async (_, make) => {
      await (await filled()).close();
      await harm(make, places[name]!());
      const cache = await openCache(layout.directory, { verifyBytesPerSecond: MIB });
      await expectWorks(cache);
      await cache.close();
      await expectNothingLeft();
    },
  );

  test.each(Object.entries(kinds))(
    "%s keeps nobody from using a cache that is open",
    async (_, make) => {
      const cache = await filled();
      await harm(make, places[name]!());
      await expectWorks(cache);
      expectUnharmed();
    },
  );

  test.each(Object.entries(kinds))(
    "%s keeps nobody from clearing a cache, or from making it smaller",
    async (_, make) => {
      const cache = await filled();
      await harm(make, places[name]!());
      await cache.stats();
      await cache.prune(0);
      expect(await cache.clear()).toBe(0);
      expect(await cache.entries()).toEqual([]);
      await harm(make, places[name]!());
      await cache.clear();
      await cache.close();
      await expectNothingLeft();
    },
  );
});

test.each(Object.entries(kinds))(
  "%s that notes an excess is one until there is none",
  async (_, make) => {
    const cache = await openCache(layout.directory, { maxBytes: 2 * MIB });
    await harm(make, layout.excess);
    await (await cache.get(one.snapshot)).release();
    expect(existsSync(layout.excess)).toBe(false);
    expectUnharmed();
  },
);

test.each(Object.entries(kinds))(
  "counts are added again where %s is in the place of them",
  async (_, make) => {
    await (await filled()).close();
    for (const place of [layout.totals, layout.newTotals]) {
      await harm(make, place);
      const cache = await openCache(layout.directory);
      await (await cache.get(one.snapshot)).release();
      await cache.close();
      expect(JSON.parse(readFileSync(layout.totals, "utf8"))).toMatchObject({
        hits: expect.any(Number),
      });
    }
    expectUnharmed();
  },
);

test.each(Object.entries(kinds))("%s is no cache, and is told of at once", async (_, make) => {
  await (await filled()).close();
  await harm(make, layout.lock);
  await refusalOf(ImageCache.open(layout.directory, { maxBytes: MIB }), "ERR_CACHE");
  expectUnharmed();
});

test("a folder in the place of a note of a failure, which nobody can read, goes with the next fill", async () => {
  const cache = await filled();
  const note = layout.failure("f".repeat(64));
  mkdirSync(join(note, "in it"), { recursive: true });
  await (await cache.get(other.snapshot)).release();
  expect(existsSync(note)).toBe(false);
});

test("a link in the place of an image's record is not written through", async () => {
  const cache = await openCache(layout.directory);
  symlinkSync(file, layout.newRecord(one.digest));
  const image = await cache.get(one.snapshot);
  await expectImage(image.path, one);
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
});
