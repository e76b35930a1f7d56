/** Deltas in a real object store. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import {
  inspectSnapshot,
  type RestoreOptions,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, beforeEach, expect, test } from "vitest";

import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { presignedGet } from "../../dist/services/s3-presign.js";
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
    presignedGet({ service: "s3", bucket: s3.bucket, key: `${FOLDER}/${name}` }, options().s3);
  const url = await presign("a.vhs");
  const error = await refusalOf(restoreSnapshot(url, restored, options()), "ERR_SOURCE");
  expect(error.status).toBe(403);
  expect(error.message).toContain(`base object ${info.delta?.objects[0]?.digest} (`);
  expect(textsIn(error)).not.toContain(url.searchParams.get("X-Amz-Signature"));

  const names = new Map(info.delta?.objects.map(({ digest, reference }) => [digest, reference]));
  const resolve = (digest: string) => presign(names.get(digest)!);
  await restoreSnapshot(url, restored, { ...OPTIONS, resolve });
  expectSame(readFileSync(restored), chain.image);
});

test("a local delta reaches its base objects in the store by resolve", async () => {
  const names = new Map(info.delta?.objects.map(({ digest, reference }) => [digest, reference]));
  const resolve = (digest: string) => urlOf(`${FOLDER}/${names.get(digest)}`);
  await restoreSnapshot(path("a.vhs"), restored, { ...options(), resolve });
  expectSame(readFileSync(restored), chain.image);
});

test("a base object that is denied ends the restore with an error that has no signature", async () => {
  const { reference, digest } = info.delta!.objects[0]!;
  await using proxy = await startProxy(s3.endpoint, ({ url = "" }) =>
    url.includes(`/${reference}?`) ? { status: 403 } : undefined,
  );
  const restoring = restoreSnapshot(delta(), restored, options(proxy.endpoint));
  const error = await refusalOf(restoring, "ERR_SOURCE");
  expect(error.message).toContain(`base object ${digest} (${urlOf(`${FOLDER}/${reference}`)})`);
  expect(textsIn(error)).not.toContain("X-Amz-Signature");
  expect(existsSync(restored)).toBe(false);
  expect(leftovers(path())).toEqual([]);
});
