/** Keys of objects and paths of URLs: every call reaches the same object by a name, or makes no request. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createSnapshot,
  ImageCache,
  inspectSnapshot,
  type RestoreOptions,
  restoreSnapshot,
  SnapshotError,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { KIB, MIB } from "../support/cache.js";
import { refusalOf } from "../support/refusal.js";
import { originOf } from "../support/remote.js";

const path = temporaryFolder();
const [image, restored] = [path("image"), path("restored")];
const bytes = noise("image", 64 * KIB);

let server: S3Server;
let options: RestoreOptions;
let cache: ImageCache;

beforeAll(async () => {
  writeFileSync(image, bytes);
  cache = await ImageCache.open(path("cache"), { maxBytes: 4 * MIB });
  server = await startS3();
  const { endpoint, region, credentials } = server;
  options = { s3: { endpoint, region, credentials }, workers: 1, retries: 0 };
});
afterAll(async () => {
  await cache.close();
  await server.close();
});

/**
 * Returns the calls to try with a key, in turns: `npm test` tries one of them with each key, and `npm run verify` all.
 * Each starts a worker, which takes longer than the rest of the call.
 */
function turnsOf<Call>(calls: readonly Call[], index: number): Call[] {
  const rotated = calls.map((_, shift) => calls[(index + shift) % calls.length]!);
  return rotated.slice(0, trials({ few: 1, all: calls.length }));
}

/** Returns all calls that take a place. */
function callsWith(all: RestoreOptions) {
  const { workers: _, ...reading } = all;
  return {
    create: (place: string | URL) => createSnapshot(image, place, all),
    restore: (place: string | URL) => restoreSnapshot(place, restored, all),
    inspect: (place: string | URL) => inspectSnapshot(place, reading),
    verify: (place: string | URL) => verifySnapshot(place, all),
    "restore with a cache": (place: string | URL) =>
      restoreSnapshot(place, restored, { ...all, cache }),
    get: async (place: string | URL) => (await cache.get(place, all)).release(),
    has: (place: string | URL) => cache.has(place, reading),
    delete: (place: string | URL) => cache.delete(place, reading),
  };
}

describe("a key that S3 has", () => {
  const keys = [
    "a",
    "...",
    ".a/..b/c.",
    "a b",
    "a+b",
    "a%b",
    "a%2Fb",
    "%2e%2e/a",
    "a?b=c",
    "a#b",
    "a&b=c;d,e:f@g$h!i'j(k)l*m",
    "a\\..\\b",
    "a\\b",
    '"<a>"',
    "ä/日本/🌿",
    "e\u0301",
    "a\tb",
    "b/ /c",
    `${"long/".repeat(20)}key`,
  ];

  test.each(keys)("writes and reads an object with the key %j", async (key) => {
    const calls = callsWith(options);
    const place = `s3://${server.bucket}/${key}`;
    const { digest } = await calls.create(place);
    expect(server.objects()).toContain(key);
    expect((await calls.inspect(place)).digest).toBe(digest);
    const reads = [
      async () => expect((await calls.verify(place)).digest).toBe(digest),
      async () => {
        await calls.restore(place);
        expectSame(readFileSync(restored), bytes);
      },
      async () => {
        await calls.get(place);
        expect(await calls.has(place)).toBe(true);
        expect(await calls.delete(place)).toBe(true);
      },
    ];
    for (const read of turnsOf(reads, keys.indexOf(key))) await read();
    const url = new URL(
      `s3://${server.bucket}/${key.split("/").map(encodeURIComponent).join("/")}`,
    );
    // A URL resolves `%2e%2e` like `..`.
    if (!url.href.includes("%252e")) expect((await calls.inspect(url)).digest).toBe(digest);
  });

  const refused = ["a".repeat(2000), `${"a/".repeat(1000)}b`, "a\u0000b"];

  test.each(refused)(
    "reports a key that the service refuses as a SnapshotError: %j",
    async (key) => {
      // `npm test` tries a third of the calls with each key.
      const calls = Object.values(callsWith(options)).filter(
        (_, at) => (at + refused.indexOf(key)) % trials({ few: 3, all: 1 }) === 0,
      );
      for (const call of calls) {
        const error = await call(`s3://${server.bucket}/${key}`).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(SnapshotError);
      }
      expect(server.objects()).not.toContain(key);
    },
  );
});

describe("a key that no request can carry", () => {
  const keys = [
    ...[".", "..", "./a", "../a", "a/.", "a/..", "a/./b", "a/../b", "../../a"],
    ...["/", "/a", "//a", "a/", "a//", "a//b", "a/\ud800", "\udc00"],
  ];
  const places = [
    ...keys.map((key) => `s3://snapshots/${key}`),
    ...["s3://./a", "s3://../a", "s3://snapshots", "s3://snapshots/"],
    ...["s3://snapshots/a%2F..%2Fb", "s3://snapshots/%2Fa", "s3://snapshots/a%2F"].map(
      (href) => new URL(href),
    ),
    ...[
      "s3://user@snapshots/a",
      "s3://snapshots:80/a",
      "s3://snapshots/a?b",
      "s3://snapshots/a#b",
    ].map((href) => new URL(href)),
    ...["s3://snapshots/%ff", "s3://snapshots/a%"].map((href) => new URL(href)),
  ];

  test.each(places)(
    "refuses a key that no request can carry, before any request: %s",
    async (place) => {
      const requested: (string | undefined)[] = [];
      const listening = createServer(({ url }, response) => {
        requested.push(url);
        response.writeHead(500).end();
      });
      await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void listening.close());
      const { port } = listening.address() as AddressInfo;
      const endpoint = `http://127.0.0.1:${port}`;
      const calls = callsWith({ ...options, s3: { ...options.s3, endpoint } });
      for (const call of Object.values(calls)) await refusalOf(call(place), "ERR_ARGUMENT");
      expect(requested).toEqual([]);
    },
  );
});

describe("a URL of a server", () => {
  const places = [
    ["/a/../b.vhs", "/b.vhs"],
    ["/a/./b.vhs", "/a/b.vhs"],
    ["/a/%2e%2E/b.vhs", "/b.vhs"],
    ["/a//b.vhs", "/a//b.vhs"],
    ["/a\\b.vhs", "/a/b.vhs"],
    ["/a%2Fb.vhs", "/a%2Fb.vhs"],
    ["/a%5Cb.vhs", "/a%5Cb.vhs"],
    ["/a b+c.vhs", "/a%20b+c.vhs"],
    ["/ä.vhs", "/%C3%A4.vhs"],
    ["/a.vhs/", "/a.vhs/"],
    ["/a%00.vhs", "/a%00.vhs"],
  ] as const;

  test.each(places)("reaches the same object with every call: %s", async (named, requested) => {
    const origin = await originOf({});
    const place = `${origin.url().origin}${named}`;
    const calls = callsWith({ workers: 1, retries: 0 });
    const { digest } = await calls.create(place);
    expect((await calls.inspect(place)).digest).toBe(digest);
    expect((await calls.inspect(new URL(place))).digest).toBe(digest);
    const reads = [
      async () => {
        await calls.restore(place);
        expectSame(readFileSync(restored), bytes);
      },
      async () => {
        await calls.get(place);
        expect(await calls.has(place)).toBe(true);
        expect(await calls.delete(place)).toBe(true);
      },
    ];
    const index = places.findIndex(([each]) => each === named);
    for (const read of turnsOf(reads, index)) await read();
    const paths = new Set(origin.requests.map(({ path: found }) => found));
    expect([...paths]).toEqual([requested]);
  });
});
