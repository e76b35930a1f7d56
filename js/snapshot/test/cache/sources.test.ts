/** How a cache finds the image of a snapshot: by its digest, or by its source and ETag. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createSnapshot, type ImageCache, inspectSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import type { Origin } from "../../../../tests/origin/origin.mjs";
import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { startProxy } from "../../../../tests/support/snapshots/proxy.js";
import {
  digestsIn,
  expectImage,
  KIB,
  MIB,
  makeSample,
  newDirectories,
  openCache,
  type Sample,
  strayFiles,
} from "../support/cache.js";
import { refusalOf } from "../support/refusal.js";
import { expectNoConnections, isTail, originOf } from "../support/remote.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let [one, other] = [{} as Sample, {} as Sample];

/** The maximum length of the request for the end of a snapshot, in bytes. It is less than the data. */
const TAIL = 512 * KIB;

const ranges = (origin: Origin) => origin.requests.map(({ headers }) => headers.range);

beforeAll(async () => {
  one = await makeSample(path, "one", { data: MIB });
  other = await makeSample(path, "other", { data: MIB });
});

/** Gets an image, checks it, and releases it. Returns whether it was a hit. */
async function got(
  cache: ImageCache,
  source: string | URL,
  sample: Sample,
  options: Parameters<ImageCache["get"]>[1] = {},
): Promise<boolean> {
  const image = await cache.get(source, { workers: 1, ...options });
  await expectImage(image.path, sample);
  expect(image.info).toMatchObject({ digest: sample.digest });
  await image.release();
  return image.hit;
}

/** Returns what an origin was asked for during an action: ranges, and the number of bytes sent. */
async function requestsDuring(origin: Origin, action: () => Promise<unknown>) {
  const { requestCount, bytesSent } = origin;
  await action();
  await expectNoConnections(origin);
  const requests = origin.requestCount - requestCount;
  return {
    ranges: requests === 0 ? [] : ranges(origin).slice(-requests),
    bytes: origin.bytesSent - bytesSent,
  };
}

describe("a URL with a known ETag", () => {
  test("requests one byte of a URL with a known ETag", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": one.snapshot });
    const first = await requestsDuring(origin, async () => {
      expect(await got(cache, origin.url("/a.vhs"), one)).toBe(false);
    });
    expect(first.bytes).toBeGreaterThanOrEqual(one.fileSize);
    const second = await requestsDuring(origin, async () => {
      expect(await got(cache, origin.url("/a.vhs"), one)).toBe(true);
    });
    expect(second).toEqual({ ranges: ["bytes=0-0"], bytes: 1 });
    expect(await cache.stats()).toMatchObject({ hits: 1, misses: 1, fills: 1, entries: 1 });
  });

  test("shares known ETags with other and later caches of the directory", async () => {
    const directory = newDirectory();
    const [first, second] = [await openCache(directory), await openCache(directory)];
    const origin = await originOf({ "/a.vhs": one.snapshot });
    await got(first, origin.url("/a.vhs"), one);
    const again = await requestsDuring(origin, async () => {
      expect(await got(second, origin.url("/a.vhs"), one)).toBe(true);
    });
    expect(again.bytes).toBe(1);
    await Promise.all([first.close(), second.close()]);
    const later = await openCache(directory);
    const reopened = await requestsDuring(origin, async () => {
      expect(await got(later, origin.url("/a.vhs"), one)).toBe(true);
    });
    expect(reopened.bytes).toBe(1);
  });

  test("ignores the user, the fragment and the signature of a URL", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": one.snapshot });
    await got(cache, origin.url("/a.vhs?X-Amz-Signature=1&X-Amz-Date=2"), one);
    const url = origin.url("/a.vhs?X-Amz-Signature=3&x-amz-date=4#part");
    [url.username, url.password] = ["user", "password"];
    const again = await requestsDuring(origin, async () =>
      expect(await got(cache, url, one)).toBe(true),
    );
    expect(again.bytes).toBe(1);
    // Other parameters of a query count.
    origin.set("/a.vhs", other.snapshot);
    expect(await got(cache, origin.url("/a.vhs?version=2"), other)).toBe(false);
  });

  test("restores the new snapshot when the ETag has changed", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const origin = await originOf({ "/a.vhs": one.snapshot });
    await got(cache, origin.url("/a.vhs"), one);
    origin.set("/a.vhs", other.snapshot);
    expect(await got(cache, origin.url("/a.vhs"), other)).toBe(false);
    expect(await got(cache, origin.url("/a.vhs"), other)).toBe(true);
    expect(digestsIn(directory)).toEqual([one.digest, other.digest].sort());
    // The earlier image is still in the cache.
    origin.set("/a.vhs", one.snapshot);
    const back = await requestsDuring(origin, () => got(cache, origin.url("/a.vhs"), one));
    expect(back.bytes).toBeLessThanOrEqual(TAIL + 1);
  });

  test("restores an image again that was deleted", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": one.snapshot });
    await got(cache, origin.url("/a.vhs"), one);
    expect(await cache.delete(origin.url("/a.vhs"))).toBe(true);
    expect(await got(cache, origin.url("/a.vhs"), one)).toBe(false);
    expect((await cache.stats()).fills).toBe(2);
  });

  test("reports a snapshot that is gone, although its image is in the cache", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": one.snapshot });
    await got(cache, origin.url("/a.vhs"), one);
    origin.faults = () => ({ status: 404 });
    const error = await refusalOf(cache.get(origin.url("/a.vhs")), "ERR_SOURCE");
    expect(error.status).toBe(404);
  });

  test("refuses an image to callers whom the server refuses, unless they pass the digest", async () => {
    const cache = await openCache(newDirectory());
    const faults: Faults = ({ headers }) =>
      headers.authorization === "token good" ? undefined : { status: 403 };
    const origin = await originOf({ "/a.vhs": one.snapshot }, { faults });
    const url = origin.url("/a.vhs");
    expect(await got(cache, url, one, { headers: { authorization: "token good" } })).toBe(false);
    const wrong = { headers: { authorization: "token bad" } };
    const error = await refusalOf(cache.get(url, wrong), "ERR_SOURCE");
    expect(error.status).toBe(403);
    await refusalOf(cache.get(url), "ERR_SOURCE");
    await refusalOf(cache.has(url), "ERR_SOURCE");
    expect(await got(cache, url, one, { headers: { authorization: "token good" } })).toBe(true);
    const { digest } = one;
    expect(await requestsDuring(origin, () => got(cache, url, one, { digest }))).toMatchObject({
      bytes: 0,
    });
  });

  test.each([0, 1])(
    "restores once for authorized callers among unauthorized ones: order %i",
    async (good) => {
      const cache = await openCache(newDirectory());
      const faults: Faults = ({ headers }) =>
        headers.authorization === "token good" ? undefined : { status: 403 };
      const origin = await originOf({ "/a.vhs": one.snapshot }, { faults });
      const wanted = Array.from({ length: 8 }, (_, index) => {
        const authorization = index % 2 === good ? "token good" : "token bad";
        return cache.get(origin.url("/a.vhs"), { headers: { authorization } });
      });
      const results = await Promise.allSettled(wanted);
      expect(results.map(({ status }) => status)).toEqual(
        wanted.map((_, index) => (index % 2 === good ? "fulfilled" : "rejected")),
      );
      for (const result of results) {
        if (result.status === "fulfilled") await expectImage(result.value.path, one);
        else expect(result.reason).toMatchObject({ code: "ERR_SOURCE", status: 403 });
      }
      expect((await cache.stats()).fills).toBe(1);
    },
  );
});

describe("a snapshot that is identified by its manifest", () => {
  test("finds the image of the same snapshot at another URL", async () => {
    const cache = await openCache(newDirectory());
    const bytes = readFileSync(one.snapshot);
    const origin = await originOf({ "/a.vhs": bytes, "/b.vhs": bytes });
    await got(cache, origin.url("/a.vhs"), one);
    const second = await requestsDuring(origin, async () => {
      expect(await got(cache, origin.url("/b.vhs"), one)).toBe(true);
    });
    expect(second.ranges.every((range) => isTail({ headers: { range } }))).toBe(true);
    expect(second.bytes).toBeLessThanOrEqual(TAIL);
    expect(await requestsDuring(origin, () => got(cache, origin.url("/b.vhs"), one))).toMatchObject(
      {
        bytes: 1,
      },
    );
  });

  test("distinguishes snapshots at two URLs with the same ETag", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": one.snapshot, "/b.vhs": other.snapshot });
    origin.faults = () => ({ etag: '"same"' });
    expect(await got(cache, origin.url("/a.vhs"), one)).toBe(false);
    expect(await got(cache, origin.url("/b.vhs"), other)).toBe(false);
    expect(await got(cache, origin.url("/a.vhs"), one)).toBe(true);
  });

  test.each([
    ["no ETag", null],
    ["a weak ETag", 'W/"1"'],
  ])("reads the manifest of a URL with %s", async (_, etag) => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": one.snapshot }, { faults: () => ({ etag }) });
    expect(await got(cache, origin.url("/a.vhs"), one)).toBe(false);
    const second = await requestsDuring(origin, async () => {
      expect(await got(cache, origin.url("/a.vhs"), one)).toBe(true);
    });
    expect(second.bytes).toBeLessThanOrEqual(TAIL + 1);
    expect(await cache.has(origin.url("/a.vhs"))).toBe(true);
    // A changed snapshot is noticed without an ETag.
    origin.set("/a.vhs", other.snapshot);
    expect(await got(cache, origin.url("/a.vhs"), other)).toBe(false);
    expect(await cache.stats()).toMatchObject({ hits: 1, misses: 2, fills: 2 });
  });

  test("finds the same image for a file, its copy and a URL", async () => {
    const cache = await openCache(newDirectory());
    copyFileSync(one.snapshot, path("copy.vhs"));
    const origin = await originOf({ "/a.vhs": one.snapshot });
    expect(await got(cache, one.snapshot, one)).toBe(false);
    expect(await got(cache, path("copy.vhs"), one)).toBe(true);
    expect(await got(cache, origin.url("/a.vhs"), one)).toBe(true);
    copyFileSync(other.snapshot, path("copy.vhs"));
    expect(await got(cache, path("copy.vhs"), other)).toBe(false);
    expect((await cache.stats()).fills).toBe(2);
  });

  test("distinguishes two snapshots of one image", async () => {
    const cache = await openCache(newDirectory());
    const { digest } = await createSnapshot(one.image, path("finer.vhs"), { pieceSize: 4 * KIB });
    expect(digest).not.toBe(one.digest);
    await got(cache, one.snapshot, one);
    expect(await got(cache, path("finer.vhs"), { ...one, digest })).toBe(false);
  });
});

describe("digest", () => {
  test("makes no request for a hit by digest", async () => {
    const cache = await openCache(newDirectory());
    const origin = await originOf({ "/a.vhs": one.snapshot });
    const [url, { digest }] = [origin.url("/a.vhs"), one];
    expect(await got(cache, url, one, { digest })).toBe(false);
    const { requestCount } = origin;
    expect(await got(cache, url, one, { digest })).toBe(true);
    expect(await got(cache, url, one, { digest: digest.toUpperCase() })).toBe(true);
    expect(await cache.has(url, { digest })).toBe(true);
    expect(origin.requestCount).toBe(requestCount);
    await origin.close();
    expect(await got(cache, url, one, { digest })).toBe(true);
    expect(await got(cache, "s3://nowhere/a.vhs", one, { digest })).toBe(true);
    expect(await got(cache, path("no such file"), one, { digest })).toBe(true);
    expect(await cache.delete(url, { digest })).toBe(true);
    expect(await cache.has(url, { digest })).toBe(false);
  });

  test.each(["a file", "a URL"])("refuses a snapshot with another digest: %s", async (kind) => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const origin = await originOf({ "/a.vhs": one.snapshot });
    const source = kind === "a file" ? one.snapshot : origin.url("/a.vhs");
    const { digest } = other;
    const error = await refusalOf(cache.get(source, { digest }), "ERR_SNAPSHOT_DIGEST");
    expect(error.message).toContain(one.digest);
    expect(error.message).toContain(digest);
    expect(origin.bytesSent).toBeLessThanOrEqual(TAIL);
    // A hit returns the image of the digest, whatever the source has.
    await got(cache, other.snapshot, other);
    expect(await got(cache, source, other, { digest })).toBe(true);
  });
});

describe("has and delete", () => {
  test("asks the server which snapshot it has, and fetches no data", async () => {
    const directory = newDirectory();
    const cache = await openCache(directory);
    const origin = await originOf({ "/a.vhs": one.snapshot });
    const url = origin.url("/a.vhs");
    expect(await cache.has(url)).toBe(false);
    expect(await cache.delete(url)).toBe(false);
    expect(origin.bytesSent).toBeLessThanOrEqual(2 * TAIL);
    await got(cache, url, one);
    const { ranges: asks } = await requestsDuring(origin, async () =>
      expect(await cache.has(url)).toBe(true),
    );
    expect(asks).toEqual(["bytes=0-0"]);
    origin.set("/a.vhs", other.snapshot);
    expect(await cache.has(url)).toBe(false);
    expect(await cache.delete(url)).toBe(false);
    expect(digestsIn(directory)).toEqual([one.digest]);
    origin.set("/a.vhs", one.snapshot);
    expect(await cache.delete(url)).toBe(true);
    expect(digestsIn(directory)).toEqual([]);
    expect(strayFiles(directory)).toEqual([]);
  });

  test("finds and deletes the image of a snapshot file by its manifest", async () => {
    const cache = await openCache(newDirectory());
    expect(await cache.has(one.snapshot)).toBe(false);
    await got(cache, one.snapshot, one);
    expect(await cache.has(one.snapshot)).toBe(true);
    expect(await cache.has(other.snapshot)).toBe(false);
    expect(await cache.delete(other.snapshot)).toBe(false);
    expect(await cache.delete(one.snapshot)).toBe(true);
    expect(await cache.delete(one.snapshot)).toBe(false);
    await refusalOf(cache.has(path("no such file")), "ERR_SOURCE");
    writeFileSync(path("no snapshot"), "no snapshot");
    await refusalOf(cache.delete(path("no snapshot")), "ERR_SNAPSHOT_FORMAT");
  });
});

describe("an object store", () => {
  let server: S3Server;

  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.close());

  test("requests one byte of an S3 object, with a new signature each time", async () => {
    const cache = await openCache(newDirectory());
    const proxy = await startProxy(server.endpoint, () => undefined);
    await using _ = proxy;
    const { region, credentials } = server;
    const s3 = { region, credentials, endpoint: proxy.endpoint };
    const url = `s3://${server.bucket}/a.vhs`;
    await createSnapshot(one.image, url, { s3, pieceSize: 64 * KIB, level: 1 });
    const { digest } = await inspectSnapshot(url, { s3 });
    expect(digest).toBe(one.digest);
    expect(await got(cache, url, one, { s3 })).toBe(false);
    const before = proxy.requests.length;
    // A signature contains the second at which it was made.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5_000 });
    try {
      expect(await got(cache, url, one, { s3 })).toBe(true);
    } finally {
      vi.useRealTimers();
    }
    const asks = proxy.requests.slice(before);
    expect(asks.length).toBe(1);
    const earlier = proxy.requests.slice(0, before).filter((request) => request.startsWith("GET"));
    expect(earlier).not.toContain(asks[0]);
    expect(asks[0]).toContain("X-Amz-Signature=");
    expect(await got(cache, `s3://${server.bucket}/a.vhs`, one, { s3, digest })).toBe(true);
    expect(proxy.requests.length).toBe(before + 1);
    const [entry] = await cache.entries();
    expect(entry?.source).toBe(url);
  });
});
