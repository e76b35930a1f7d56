/** Disks over images in a cache. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { openSnapshot } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { bytesOnDisk, expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { MIB, openCache } from "../support/cache.js";
import { type Chain, makeChain } from "../support/deltas.js";
import { xfsDisk } from "../support/loop-disk.js";
import { originOf } from "../support/remote.js";

const path = temporaryFolder();
const xfs = xfsDisk(320 * MIB);
const digests: Record<string, string> = {};
let chain: Chain;

beforeAll(async () => {
  chain = await makeChain(path);
});

/** Serves the chain, and opens a cache that has the images of some of it. */
async function cacheWith(names: readonly string[], directory = path(`cache-${names}`)) {
  const origin = await originOf(
    Object.fromEntries(Object.entries(chain.files).map(([name, bytes]) => [`/${name}`, bytes])),
  );
  const cache = await openCache(directory);
  for (const name of names) {
    await using image = await cache.get(path(name));
    digests[name] = image.info.digest;
  }
  return { origin, cache };
}

test("a disk whose image is cached needs no request, if its snapshot is pinned", async () => {
  const { origin, cache } = await cacheWith(["a.vhs"]);
  const options = { image: path("pinned"), cache, workers: 1, digest: digests["a.vhs"] };
  await using disk = await openSnapshot(origin.url("/a.vhs").href, options);
  expectSame(await disk.read(0, disk.size), chain.image);
  await disk.filled;
  expectSame(readFileSync(path("pinned")), chain.image);
  expect(origin.requestCount).toBe(0);
});

test("reads what a cached base has from there, and fetches the rest", async () => {
  const { origin, cache } = await cacheWith(["first.vhs"]);
  const options = {
    image: path("over-base"),
    cache,
    fill: "none" as const,
    workers: 1,
    trace: false as const,
  };
  await using disk = await openSnapshot(origin.url("/a.vhs").href, options);
  expectSame(await disk.read(0, disk.size), chain.image);
  expect(origin.bytesSent).toBeLessThan(1.4 * chain.files["a.vhs"].length);
  expect(bytesOnDisk(path(leftovers(path())[0] as string))).toBeLessThan(2 * MIB);
});

test("fills what a cached base has from there, and fetches the delta alone", async () => {
  const { origin, cache } = await cacheWith(["first.vhs"]);
  const options = { image: path("filled-over-base"), cache, workers: 1, trace: false as const };
  await using disk = await openSnapshot(origin.url("/a.vhs").href, options);
  await disk.filled;
  expectSame(await disk.read(0, disk.size), chain.image);
  expect(origin.bytesSent).toBeLessThan(1.1 * chain.files["a.vhs"].length);
});

test("an image over a base that is evicted later is opened again without it", async () => {
  const { origin, cache } = await cacheWith(["base.vhs"]);
  const options = { image: path("evicted"), cache, fill: "none" as const, workers: 1 };
  const first = await openSnapshot(origin.url("/a.vhs").href, options);
  await first.write(4096, Buffer.alloc(10, 1));
  await first.write(3 * MIB + 4090, Buffer.alloc(10_000, 2));
  const expected = Buffer.from(chain.image);
  expected.fill(1, 4096, 4106).fill(2, 3 * MIB + 4090, 3 * MIB + 14_090);
  expectSame(await first.read(0, first.size), expected);
  await first.close();
  await cache.clear();
  await using second = await openSnapshot(origin.url("/a.vhs").href, { ...options, fill: "all" });
  expectSame(await second.read(0, second.size), expected);
  await second.filled;
  expectSame(readFileSync(options.image), expected);
});

test("a cached image is leased while a disk is over it", async () => {
  const { cache } = await cacheWith(["a.vhs"], path("leased"));
  const disk = await openSnapshot(path("a.vhs"), { image: path("over"), cache, fill: "none" });
  expect((await cache.stats()).leases).toBe(1);
  expect(await cache.prune(0)).toMatchObject({ images: 0 });
  await disk.close();
  expect((await cache.stats()).leases).toBe(0);
});

describe("on XFS", () => {
  test(`an image begins as a clone of that of its base`, async () => {
    const { origin, cache } = await cacheWith(["first.vhs"], xfs.path("cache"));
    const options = { image: xfs.path("disk"), cache, workers: 1 };
    await using disk = await openSnapshot(origin.url("/a.vhs").href, options);
    const bytes = noise("written", 5_000);
    const expected = Buffer.from(chain.image);
    await disk.write(10_000, bytes);
    bytes.copy(expected, 10_000);
    await disk.filled;
    expectSame(readFileSync(options.image), expected);
    expect(statSync(options.image).size).toBe(expected.length);
    expect(origin.bytesSent).toBeLessThan(1.1 * chain.files["a.vhs"].length);
  });

  test(`eight disks on one cached base are filled, written to and closed at once`, async () => {
    const { origin, cache } = await cacheWith(["base.vhs"], xfs.path("shared"));
    const disks = await Promise.all(
      Array.from({ length: 8 }, (_, number) => {
        const image = xfs.path(`disk-${number}`);
        return openSnapshot(origin.url("/a.vhs").href, { image, cache, workers: 1 });
      }),
    );
    const expected = disks.map(() => Buffer.from(chain.image));
    await Promise.all(
      disks.map(async (disk, number) => {
        for (let at = 0; at < 50; at += 1) {
          const [offset, bytes] = [(at * 77_777 * (number + 1)) % (3 * MIB), noise(`${at}`, 3_000)];
          await disk.write(offset, bytes);
          bytes.copy(expected[number] as Buffer, offset);
          if (at % 10 === 0) await disk.flush();
        }
      }),
    );
    for (const [number, disk] of disks.entries()) {
      await disk.filled;
      expectSame(await disk.read(0, disk.size), expected[number] as Buffer);
      await disk.close();
    }
    expect((await cache.verify()).damaged).toEqual([]);
  });
});

test("an image of another kind is refused as a cache", async () => {
  writeFileSync(path("plain"), "");
  const options = { image: path("disk"), cache: {} as never };
  await expect(openSnapshot(path("a.vhs"), options)).rejects.toMatchObject({
    code: "ERR_ARGUMENT",
  });
});
