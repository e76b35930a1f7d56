/** Deltas in S3 that become full snapshots. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CreateOptions, createSnapshot, flattenSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { type InjectFault, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { type Job, killAfter, run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";
import { objectOf, s3, s3Options, urlOf } from "../support/upload-s3.js";

const [BLOCK, MIB] = [4096, 2 ** 20];
const KILLS = trials({ few: 3, all: 10 });
const path = temporaryFolder();

/**
 * The image of the base, which has a hole, and takes about 20 MiB as a snapshot. Most of it is noise, which is fast to
 * compress. A part of each piece is letters, which take other bytes at each level.
 */
const image = noise("base", 24 * MIB);
for (let at = 0; at < image.length; at += MIB) letters(`base ${at}`, MIB / 4).copy(image, at);
image.fill(0, 4 * MIB + BLOCK, 5.5 * MIB);

/** The image with clusters of changes: far from each other, and close to each other. */
const next = Buffer.from(image);
for (const offset of [10 * MIB, 20 * MIB, 23 * MIB]) letters("next", 9 * BLOCK).copy(next, offset);

/** The snapshot that `createSnapshot` makes of it. */
let full: Buffer;

/** Writes a snapshot to S3. */
async function upload(key: string, bytes: Buffer, options: CreateOptions = {}): Promise<void> {
  writeFileSync(path("image"), bytes);
  await createSnapshot(path("image"), urlOf(key), s3Options(options));
}

/** Returns the snapshot that `createSnapshot` makes of an image. */
async function fullSnapshot(bytes: Buffer, options: CreateOptions = {}): Promise<Buffer> {
  writeFileSync(path("image"), bytes);
  await createSnapshot(path("image"), path("full.vhs"), { workers: 1, ...options });
  return readFileSync(path("full.vhs"));
}

/** Throws unless all that is in S3 are objects with these keys, and the base and its delta. */
function expectOnly(...keys: string[]): void {
  expect(s3.objects()).toEqual(["base.vhs", "delta.vhs", ...keys].sort());
  expect(s3.multipartUploads()).toEqual([]);
}

const remove = (...keys: string[]) => {
  for (const key of keys) rmSync(join(s3.folder, key));
};

beforeAll(async () => {
  await upload("base.vhs", image);
  await upload("delta.vhs", next, { base: urlOf("base.vhs") });
  full = await fullSnapshot(next);
});

test("flattens a delta in S3 to the same file as createSnapshot, also at another level", async () => {
  for (const encoding of [{}, { level: 1, pieceSize: 2 * MIB }]) {
    const { duration, ...info } = await flattenSnapshot(
      urlOf("delta.vhs"),
      urlOf("flat"),
      s3Options(encoding),
    );
    expectSame(objectOf("flat"), await fullSnapshot(next, encoding));
    expect(duration).toBeGreaterThan(0);
    expect(info.fileSize).toBe(objectOf("flat").length);
  }
  expectOnly("flat");
  remove("flat");
});

test("flattens a delta in S3 to a file, and a local one to S3", async () => {
  await flattenSnapshot(urlOf("delta.vhs"), path("flat.vhs"), s3Options());
  expectSame(readFileSync(path("flat.vhs")), full);
  writeFileSync(path("delta.vhs"), objectOf("delta.vhs"));
  const options = { ...s3Options(), resolve: () => urlOf("base.vhs") };
  await flattenSnapshot(path("delta.vhs"), urlOf("flat"), options);
  expectSame(objectOf("flat"), full);
  remove("flat");
});

test("keeps existing objects, also the ones that it reads", async () => {
  await upload("kept", Buffer.alloc(1));
  const kept = objectOf("kept");
  const work = flattenSnapshot(urlOf("delta.vhs"), urlOf("kept"), s3Options({ overwrite: false }));
  await refusalOf(work, "ERR_TARGET");
  expectSame(objectOf("kept"), kept);
  for (const key of ["base.vhs", "delta.vhs"])
    await refusalOf(flattenSnapshot(urlOf("delta.vhs"), urlOf(key), s3Options()), "ERR_ARGUMENT");
  expectOnly("kept");
  remove("kept");
});

test("fails if the service does not support another operation", async () => {
  const completions: string[] = [];
  const refuse: InjectFault = ({ method, url = "" }) => {
    if (method !== "POST" || !/uploadId=/.test(url)) return undefined;
    completions.push(url);
    return { status: 501, body: "" };
  };
  await using proxy = await startProxy(s3.endpoint, refuse);
  const options = s3Options({ retries: 0 }, proxy.endpoint);
  const work = flattenSnapshot(urlOf("delta.vhs"), urlOf("failed"), options);
  expect((await refusalOf(work, "ERR_TARGET")).status).toBe(501);
  expect(completions.length).toBe(1);
  expectOnly();
});

test("fails if a base object is missing", async () => {
  remove("base.vhs");
  const work = flattenSnapshot(urlOf("delta.vhs"), urlOf("failed"), s3Options());
  await refusalOf(work, "ERR_SOURCE");
  await upload("base.vhs", image);
  expectOnly();
});

test("leaves nothing if it is aborted at a part", async () => {
  const controller = new AbortController();
  const abort: InjectFault = ({ method, url = "" }) => {
    if (method !== "PUT" || !/partNumber=2/.test(url)) return undefined;
    controller.abort(new Error("aborted"));
    return { delay: new Promise((resolve) => setTimeout(resolve, 50)) };
  };
  await using proxy = await startProxy(s3.endpoint, abort);
  const options = s3Options({ signal: controller.signal }, proxy.endpoint);
  const work = flattenSnapshot(urlOf("delta.vhs"), urlOf("aborted"), options);
  expect(await rejectionOf(work)).toMatchObject({ message: "aborted" });
  expectOnly();
  expect(leftovers(path())).toEqual([]);
});

// The last test, since killed processes leave objects.
test(
  `a process that is killed ${KILLS} times leaves nothing under the name, or the snapshot`,
  // Each kill takes as long as a snapshot, on a busy machine some seconds.
  minutes({ all: 5 }),
  async () => {
    const [source, target] = [urlOf("delta.vhs"), urlOf("killed")];
    const job: Job = { call: "flattenSnapshot", source, target, options: s3Options() };
    const { duration, error } = await run(job);
    expect(error).toBe(null);
    remove("killed");
    const random = seededRandom(1);
    let killed = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const moment = ((kill + random()) / KILLS) * 1.2 * duration;
      killed += (await killAfter(moment, job)) ? 1 : 0;
      if (!s3.objects().includes("killed")) continue;
      expectSame(objectOf("killed"), full);
      remove("killed");
    }
    expect(killed).toBeGreaterThan(KILLS / 3);
    await flattenSnapshot(source, target, s3Options());
    expectSame(objectOf("killed"), full);
    expect(s3.objects()).toEqual(["base.vhs", "delta.vhs", "killed"]);
  },
);
