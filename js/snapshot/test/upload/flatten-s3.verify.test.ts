/** Deltas in S3 that become full snapshots, of which the service copies most. */
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
import { textsIn } from "../support/error-texts.js";
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

const isCopy = ({ headers }: Parameters<InjectFault>[0]) => "x-amz-copy-source" in headers;

/** Counts the requests to copy, and the bytes that are uploaded. */
function counting() {
  const counts = { copies: 0, uploaded: 0 };
  const count: InjectFault = (asked) => {
    if (isCopy(asked)) counts.copies += 1;
    if (asked.method === "PUT") counts.uploaded += Number(asked.headers["content-length"] ?? 0);
    return undefined;
  };
  return { counts, count };
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

test("copies unchanged frames in S3, and writes the same file as createSnapshot", async () => {
  const { counts, count } = counting();
  await using proxy = await startProxy(s3.endpoint, count);
  const options = s3Options({}, proxy.endpoint);
  const { duration, ...info } = await flattenSnapshot(urlOf("delta.vhs"), urlOf("flat"), options);
  expectSame(objectOf("flat"), full);
  expect(duration).toBeGreaterThan(0);
  expect(info.fileSize).toBe(full.length);
  expect(counts.copies).toBeGreaterThan(3);
  expect(counts.uploaded).toBeLessThan(0.2 * full.length);
  expectOnly("flat");
  remove("flat");
});

test("copies all of a full snapshot but its end", async () => {
  const { counts, count } = counting();
  await using proxy = await startProxy(s3.endpoint, count);
  await flattenSnapshot(urlOf("base.vhs"), urlOf("flat"), s3Options({}, proxy.endpoint));
  expectSame(objectOf("flat"), objectOf("base.vhs"));
  expect(counts).toEqual({ copies: 1, uploaded: expect.any(Number) });
  expect(counts.uploaded).toBeLessThan(MIB);
  remove("flat");
});

test("compresses frames of another level or piece size again", async () => {
  for (const encoding of [{ level: 1 }, { pieceSize: 2 * MIB }]) {
    const { counts, count } = counting();
    await using proxy = await startProxy(s3.endpoint, count);
    const options = s3Options(encoding, proxy.endpoint);
    await flattenSnapshot(urlOf("delta.vhs"), urlOf("flat"), options);
    expectSame(objectOf("flat"), await fullSnapshot(next, encoding));
    expect(counts.copies).toBe(0);
  }
  expectOnly("flat");
  remove("flat");
});

/** With the first seed, the size stays, grows and shrinks, and the changes have all lengths. */
const SEEDS = Array.from({ length: trials({ few: 1, all: 8 }) }, (_, at) => (at + 5) % 15);

test.each(SEEDS)(
  "flattens generations in S3 whose image grows, shrinks and gets zeros, with seed %i",
  async (seed) => {
    const dice = noise(`generations ${seed}`, 256);
    const roll = (at: number, end: number) => dice.readUInt32LE(4 * at) % end;
    const keys = ["base.vhs"];
    let bytes = image;
    for (let generation = 1; generation <= 3; generation += 1) {
      const at = 8 * generation;
      const size = image.length + [0, 3 * MIB + 5, -2 * MIB - 7][roll(at, 3)]!;
      const changed = Buffer.alloc(size);
      bytes.copy(changed);
      for (let count = 1; count < 5; count += 1) {
        const start = roll(at + count, size / BLOCK - 600) * BLOCK;
        const end = start + [1, 20, 300][roll(at + count + 1, 3)]! * BLOCK;
        if (count === 1) changed.fill(0, start, end);
        else letters(`${seed} ${count}`, end - start).copy(changed, start);
      }
      bytes = changed;
      const key = `generation-${generation}`;
      await upload(key, bytes, { base: urlOf(keys.at(-1)!) });
      keys.push(key);
      await flattenSnapshot(urlOf(key), urlOf("flat"), s3Options());
      expectSame(objectOf("flat"), await fullSnapshot(bytes));
    }
    remove("flat", ...keys.slice(1));
    expectOnly();
  },
);

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

test.each([403, 500])("leaves nothing if the service answers a copy with %i", async (status) => {
  let copies = 0;
  const fail: InjectFault = (asked) => {
    if (!isCopy(asked)) return undefined;
    copies += 1;
    return copies > 3 ? { status, body: "" } : undefined;
  };
  await using proxy = await startProxy(s3.endpoint, fail);
  const options = s3Options({ retries: 1 }, proxy.endpoint);
  const work = flattenSnapshot(urlOf("delta.vhs"), urlOf("failed"), options);
  const error = await refusalOf(work, "ERR_TARGET");
  expect(error.status).toBe(status);
  expect(textsIn(error)).not.toContain(s3.credentials.secretAccessKey);
  expectOnly();
});

test.each([405, 501])(
  "compresses everything again if the service answers copies with %i",
  async (status) => {
    const refuse: InjectFault = (asked) => (isCopy(asked) ? { status, body: "" } : undefined);
    await using proxy = await startProxy(s3.endpoint, refuse);
    await flattenSnapshot(urlOf("delta.vhs"), urlOf("flat"), s3Options({}, proxy.endpoint));
    expectSame(objectOf("flat"), full);
    expectOnly("flat");
    remove("flat");
  },
);

test("fails if the service does not support another operation", async () => {
  const completions: string[] = [];
  const refuse: InjectFault = ({ method, url = "" }) => {
    if (method !== "POST" || !/uploadId=/.test(url) || /\.tmp/.test(url)) return undefined;
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

test("retries copies", async () => {
  const failed = new Set<string | undefined>();
  const failOnce: InjectFault = (asked) => {
    if (!isCopy(asked) || failed.has(asked.url)) return undefined;
    failed.add(asked.url);
    return { status: 503, body: "" };
  };
  await using proxy = await startProxy(s3.endpoint, failOnce);
  await flattenSnapshot(urlOf("delta.vhs"), urlOf("flat"), s3Options({}, proxy.endpoint));
  expectSame(objectOf("flat"), full);
  expectOnly("flat");
  remove("flat");
});

test("fails if a base object is missing, or changes before it is copied", async () => {
  const base = objectOf("base.vhs");
  remove("base.vhs");
  const missing = flattenSnapshot(urlOf("delta.vhs"), urlOf("failed"), s3Options());
  await refusalOf(missing, "ERR_SOURCE");
  await upload("base.vhs", image);
  expectSame(objectOf("base.vhs"), base);
  const changed: InjectFault = (asked) => (isCopy(asked) ? { status: 412, body: "" } : undefined);
  await using proxy = await startProxy(s3.endpoint, changed);
  const work = flattenSnapshot(urlOf("delta.vhs"), urlOf("failed"), s3Options({}, proxy.endpoint));
  await refusalOf(work, "ERR_SOURCE_CHANGED");
  expectOnly();
});

test.each(["a copy", "the completion"])("leaves nothing if it is aborted at %s", async (what) => {
  const controller = new AbortController();
  const abort: InjectFault = (asked) => {
    const isTime =
      what === "a copy"
        ? isCopy(asked)
        : asked.method === "POST" && /uploadId=/.test(asked.url ?? "");
    if (!isTime) return undefined;
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
    const others = s3.objects().filter((key) => !/^\.hedgerow-[-0-9a-f]{36}\.tmp$/.test(key));
    expect(others).toEqual(["base.vhs", "delta.vhs", "killed"]);
  },
);
