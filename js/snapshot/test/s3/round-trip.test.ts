/** Snapshots in a real object store: uploaded in parts, and restored. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CreateOptions,
  createSnapshot,
  inspectSnapshot,
  type RestoreOptions,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeExt4Image } from "../../../../scripts/lib/file-systems.mjs";
import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise, writeSparse } from "../../../../tests/support/snapshots/image.js";
import { startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { trials } from "../../../../tests/support/trials.js";
import { presignedGet } from "../../dist/services/s3-presign.js";
import { expectSameFiles } from "../support/compare.js";
import { textsIn } from "../support/error-texts.js";
import { run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** The smallest part of an upload, except for the last. */
const PART = 5 * MIB;

const path = temporaryFolder();
const [image, restored] = [path("image"), path("restored")];

let server: S3Server;
let s3: NonNullable<RestoreOptions["s3"]>;

beforeAll(async () => {
  server = await startS3();
  s3 = { endpoint: server.endpoint, region: server.region, credentials: server.credentials };
});
afterAll(() => server.close());

const urlOf = (key: string) => `s3://${server.bucket}/${key}`;

/** Uploads a snapshot, and throws unless it equals the file that is written locally. */
async function make(key: string, options: CreateOptions = {}) {
  const { duration: _, ...info } = await createSnapshot(image, urlOf(key), { ...options, s3 });
  const file = await createSnapshot(image, path("image.vhs"), options);
  expect(file.digest).toBe(info.digest);
  await expectSameFiles(path("image.vhs"), join(server.folder, key));
  expect(server.multipartUploads()).toEqual([]);
  return info;
}

describe("an image of several parts", () => {
  const bytes = Buffer.concat([
    noise("first", 7 * MIB),
    Buffer.alloc(9 * MIB),
    noise("last", 5 * MIB),
  ]);
  const key = "folder/a b+c.vhs";

  beforeAll(async () => {
    writeFileSync(image, bytes);
    const info = await make(key, { partSize: PART });
    expect(info.fileSize).toBeGreaterThan(2 * PART);
    // The ETag tells the number of parts.
    const url = await presignedGet({ service: "s3", bucket: server.bucket, key }, s3);
    const { headers } = await fetch(url);
    expect(headers.get("etag")).toMatch(/^"[0-9a-f]{32}-[3-9]"$/);
  });

  test.each([1, 2, 3])("restores an object in parts with %i threads", async (workers) => {
    // `npm test` tries one number of connections with each number of threads.
    const all = [1, 2, 16];
    const shift = workers % all.length;
    for (const connections of [...all.slice(shift), ...all].slice(0, trials({ few: 1, all: 3 }))) {
      const options = { s3, workers, connections, partSize: MIB };
      await restoreSnapshot(urlOf(key), restored, options);
      expectSame(readFileSync(restored), bytes);
      expect(leftovers(path())).toEqual([]);
    }
  });

  test("restores from a presigned URL", async () => {
    const url = await presignedGet({ service: "s3", bucket: server.bucket, key }, s3);
    await restoreSnapshot(url, restored);
    expectSame(readFileSync(restored), bytes);
    rmSync(restored);
    await restoreSnapshot(url.href, restored, { resume: true });
    expectSame(readFileSync(restored), bytes);
  });

  test("inspects and verifies an object", async () => {
    const info = await inspectSnapshot(urlOf(key), { s3 });
    expect(info).toMatchObject({ imageSize: bytes.length, holeSize: 9 * MIB });
    expect(await verifySnapshot(urlOf(key), { s3, digest: info.digest })).toEqual(info);
  });

  test("restores in a process that ends by itself", async () => {
    mkdirSync(path("folder"));
    const job = { source: urlOf(key), target: path("folder", "target"), options: { s3 } };
    const outcome = await run({ ...job, call: "restoreSnapshot" });
    const target = createHash("sha256").update(bytes).digest("hex");
    expect(outcome).toMatchObject({ error: null, running: 0, names: ["target"], target });
  });

  test("reports an object that is replaced while it is read", async () => {
    const changing = "changing.vhs";
    // Longer than its tail, which is read without a condition.
    writeFileSync(path("small"), noise("small", 3 * MIB));
    const upload = (pieceSize: number) =>
      createSnapshot(path("small"), urlOf(changing), { s3, workers: 1, pieceSize });
    await upload(MIB);
    const change = () => upload(64 * 1024);
    let changed: Promise<unknown> | undefined;
    const proxy = await startProxy(server.endpoint, ({ headers }) => {
      // Every request after the tail has a condition. The object is replaced before the first of them.
      if (headers["if-match"] === undefined) return undefined;
      changed ??= change();
      return { delay: changed };
    });
    await using _ = proxy;
    const options = { s3: { ...s3, endpoint: proxy.endpoint }, connections: 1, partSize: MIB };
    const restoring = restoreSnapshot(urlOf(changing), path("changed"), options);
    const error = await refusalOf(restoring, "ERR_SOURCE_CHANGED");
    expect(error.message).toContain(urlOf(changing));
    expect(existsSync(path("changed"))).toBe(false);
    expect(leftovers(path())).toEqual([]);
  });
});

describe("large images", () => {
  test("uploads and restores a file system", async () => {
    makeExt4Image(image, { imageBytes: GIB / 4, dataBytes: 4e7 });
    const info = await make("file system", { level: 1 });
    expect(info.fileSize).toBeGreaterThan(2 * PART);
    await restoreSnapshot(urlOf("file system"), restored, { s3, digest: info.digest });
    await expectSameFiles(image, restored);
    rmSync(restored);
  });

  test("uploads and restores a sparse image of 16 GiB", async () => {
    const offsets = [5 * MIB, 7 * GIB, 16 * GIB - MIB];
    writeSparse(image, 16 * GIB, offsets, (offset) => noise(`${offset}`, MIB));
    const { digest } = await make("sparse");
    await restoreSnapshot(urlOf("sparse"), restored, { s3, digest, connections: 2 });
    await expectSameFiles(image, restored);
    expect(statSync(restored).blocks).toBeLessThan(8 * 2048);
    rmSync(restored);
  });
});

describe("what an object store refuses", () => {
  const secretAccessKey = "wrong-3f8b2c9d";

  test.each([
    ["a missing object", "s3://snapshots/none", {}, 404],
    ["a missing bucket", "s3://nobodys-bucket/none", {}, 404],
    ["a wrong secret", "s3://snapshots/none", { secretAccessKey }, 403],
  ])("reports %s without secrets", async (_, url, wrong, status) => {
    const options = { s3: { ...s3, credentials: { ...server.credentials, ...wrong } }, retries: 1 };
    const restoring = restoreSnapshot(url, restored, options);
    const error = await refusalOf(restoring, "ERR_SOURCE");
    expect(error).toMatchObject({ status });
    expect(error.message).toContain(url);
    for (const secret of [...Object.values(server.credentials), secretAccessKey, "X-Amz-"]) {
      expect(textsIn(error)).not.toContain(secret);
    }
    expect(existsSync(restored)).toBe(false);
    expect(leftovers(path())).toEqual([]);
  });
});
