/** Deltas in a real object store. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import {
  inspectSnapshot,
  type RestoreOptions,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { type ProxyFault, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { trials } from "../../../../tests/support/trials.js";
import { presignedGet } from "../../dist/s3/presign.js";
import { type Chain, makeChain } from "../support/deltas.js";
import { textsIn } from "../support/error-texts.js";
import { refusalOf } from "../support/refusal.js";
import { putObject, s3, s3Options, urlOf } from "../support/upload-s3.js";

const path = temporaryFolder();
const restored = path("restored");

/** The folder of the delta: special characters are parts of the key. */
const FOLDER = "nightly/a b+c?%2e/ä";

let chain: Chain;
let info: SnapshotInfo;

/** Stores a file of the delta. */
const store = (name: string, bytes: Buffer) => putObject(`${FOLDER}/${name}`, bytes);

beforeAll(async () => {
  chain = await makeChain(path);
  for (const [name, bytes] of Object.entries(chain.files)) await store(name, bytes);
  info = await inspectSnapshot(path("a.vhs"));
});

beforeEach(() => rmSync(restored, { force: true }));

const delta = () => urlOf(`${FOLDER}/a.vhs`);
const OPTIONS: RestoreOptions = { partSize: 2 ** 18, connections: 3, retries: 2 };

/** Returns the options to reach the store. */
const options = (endpoint?: URL): RestoreOptions => s3Options(OPTIONS, endpoint);

test("restores, verifies and inspects a delta whose base objects are in its folder", async () => {
  await restoreSnapshot(delta(), restored, options());
  expectSame(readFileSync(restored), chain.image);
  expect(await verifySnapshot(delta(), options())).toEqual(info);
  const { workers: _, ...reading } = options();
  expect(await inspectSnapshot(delta(), reading)).toEqual(info);
  await restoreSnapshot(delta(), restored, { ...options(), resume: true, overwrite: true });
  expectSame(readFileSync(restored), chain.image);
  expect(leftovers(path())).toEqual([]);
});

test("signs each request for the object that it is for", async () => {
  await using proxy = await startProxy(s3.endpoint, () => undefined);
  await restoreSnapshot(delta(), restored, options(proxy.endpoint));
  const keys = proxy.requests.map(
    (request) => new URL(request.split(" ")[1]!, proxy.endpoint).pathname,
  );
  const folder = FOLDER.split("/").map(encodeURIComponent).join("/");
  const expected = Object.keys(chain.files).map((name) => `/${s3.bucket}/${folder}/${name}`);
  expect(new Set(keys)).toEqual(new Set(expected));
  for (const request of proxy.requests) expect(request).toMatch(/^GET .*X-Amz-Signature=/);
});

test("a presigned URL of a delta needs presigned URLs of its base objects, from resolve", async () => {
  const presign = (name: string) =>
    presignedGet({ bucket: s3.bucket, key: `${FOLDER}/${name}` }, options().s3);
  const { url } = await presign("a.vhs");
  const error = await refusalOf(restoreSnapshot(url, restored, options()), "ERR_SOURCE");
  expect(error.status).toBe(403);
  expect(error.message).toContain(`base object ${info.delta?.objects[0]?.digest} (`);
  expect(textsIn(error)).not.toContain(url.searchParams.get("X-Amz-Signature"));

  const names = new Map(info.delta?.objects.map(({ digest, reference }) => [digest, reference]));
  const resolve = async (digest: string) => (await presign(names.get(digest)!)).url;
  await restoreSnapshot(url, restored, { ...OPTIONS, resolve });
  expectSame(readFileSync(restored), chain.image);
});

test("a local delta reaches its base objects in the store by resolve", async () => {
  const names = new Map(info.delta?.objects.map(({ digest, reference }) => [digest, reference]));
  const resolve = (digest: string) => urlOf(`${FOLDER}/${names.get(digest)}`);
  await restoreSnapshot(path("a.vhs"), restored, { ...options(), resolve });
  expectSame(readFileSync(restored), chain.image);
});

const BASES = ["first.vhs", "base.vhs"] as const;

/** Returns the faults to try at a base object: `npm test` tries each of them at one of the objects. */
const faultsAt = <T>(name: (typeof BASES)[number], faults: readonly T[]) =>
  faults.filter((_, index) => (index + BASES.indexOf(name)) % trials({ few: 2, all: 1 }) === 0);

describe.each(BASES)("%s", (name) => {
  const identity = () => {
    const found = info.delta?.objects.find(({ reference }) => reference === name);
    return `base object ${found?.digest}`;
  };

  /** Starts a proxy that injects faults into requests for the object, after so many of them. */
  const failing = (after: number, fault: ProxyFault, times = Infinity) => {
    let count = 0;
    return startProxy(s3.endpoint, ({ url = "" }) => {
      if (!url.includes(`/${name}?`)) return undefined;
      count += 1;
      return count > after && count <= after + times ? fault : undefined;
    });
  };

  const fatal = [
    ["missing", 0, { status: 404 }, "ERR_SOURCE"],
    ["denied", 0, { status: 403 }, "ERR_SOURCE"],
    ["unavailable", 0, { status: 503 }, "ERR_SOURCE"],
    ["gone after its first byte", 1, { status: 404 }, "ERR_SOURCE"],
    ["replaced after its first byte", 1, { status: 412 }, "ERR_SOURCE_CHANGED"],
    ["cut after its first byte", 1, { fault: () => ({ cutAfter: 0 }) }, "ERR_SOURCE"],
    ["damaged", 1, { fault: () => ({ flipBit: 100 }) }, "ERR_SNAPSHOT_FORMAT"],
  ] as const;
  const tried = faultsAt<(typeof fatal)[number]>(name, fatal);

  test.each(tried)(
    `${name} of a delta that is %s ends the restore`,
    async (_, after, fault, code) => {
      await using proxy = await failing(after, fault);
      const error = await refusalOf(
        restoreSnapshot(delta(), restored, options(proxy.endpoint)),
        code,
      );
      expect(error.message).toContain(identity());
      if (code !== "ERR_SNAPSHOT_FORMAT")
        expect(error.message).toContain(urlOf(`${FOLDER}/${name}`));
      expect(textsIn(error)).not.toContain("X-Amz-Signature");
      expect(existsSync(restored)).toBe(false);
      expect(leftovers(path())).toEqual([]);
    },
  );

  const recoverable = [
    ["busy", { status: 503 }],
    ["cut", { fault: () => ({ cutAfter: 0 }) }],
    ["lost", { loseResponse: true }],
    ["damaged", { fault: () => ({ flipBit: 100 }) }],
  ] as const;
  const curable = faultsAt<(typeof recoverable)[number]>(name, recoverable);

  test.each(curable)(`restores a delta although a request for ${name} is %s`, async (_, fault) => {
    for (const after of [0, 1]) {
      await using proxy = await failing(after, fault, 1);
      await restoreSnapshot(delta(), restored, { ...options(proxy.endpoint), overwrite: true });
      expectSame(readFileSync(restored), chain.image);
    }
  });

  test(`${name} of a delta that is replaced while it is read ends the restore`, async () => {
    const replacement = noise("replacement", chain.files[name].length);
    let replaced: Promise<void> | undefined;
    const proxy = await startProxy(s3.endpoint, ({ url = "", headers }) => {
      // Requests after the first have a condition. The response to the first of them is of the old object.
      if (!url.includes(`/${name}?`) || headers["if-match"] === undefined) return undefined;
      replaced ??= store(name, replacement);
      return { delay: replaced };
    });
    await using _ = proxy;
    const one = { ...options(proxy.endpoint), connections: 1 };
    const restoring = restoreSnapshot(delta(), restored, one);
    const error = await refusalOf(restoring, "ERR_SOURCE_CHANGED");
    expect(error.message).toContain(identity());
    expect(existsSync(restored)).toBe(false);
    await store(name, chain.files[name]);
  });
});
