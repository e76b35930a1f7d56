/** Deltas that become full snapshots. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CreateOptions,
  createSnapshot,
  flattenSnapshot,
  inspectSnapshot,
} from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { rejectionOf } from "../../../tests/support/assert.js";
import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../tests/support/snapshots/image.js";
import { trials } from "../../../tests/support/trials.js";
import { refusalOf } from "./support/refusal.js";
import { originOf } from "./support/remote.js";

const [BLOCK, KIB, MIB] = [4096, 2 ** 10, 2 ** 20];
const path = temporaryFolder();

/** A chain of snapshots: a full one, and deltas that each have the one before as their base. */
interface Chain {
  /** The images of all generations. */
  readonly images: Buffer[];
  /** The names of the snapshots. */
  readonly names: string[];
}

/** Writes a chain. */
async function writeChain(images: Buffer[], encoding: CreateOptions = {}): Promise<Chain> {
  const names = images.map((_, generation) => `${generation}.vhs`);
  for (const [at, image] of images.entries()) {
    const file = path(names[at]!);
    const base = at === 0 ? {} : { base: path(names[at - 1]!) };
    writeFileSync(path("image"), image);
    await createSnapshot(path("image"), file, { workers: 1, ...encoding, ...base });
  }
  return { images, names };
}

/** Returns the snapshot that `createSnapshot` makes of an image. */
async function fullSnapshot(image: Buffer, encoding: CreateOptions = {}): Promise<Buffer> {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("expected.vhs"), { workers: 1, ...encoding });
  return readFileSync(path("expected.vhs"));
}

/** Returns numbers that depend only on the seed, each from 0 up to a limit. */
function dice(seed: string): (end: number) => number {
  const bytes = noise(seed, 2 ** 16);
  let at = 0;
  return (end) => bytes.readUInt32LE((at++ * 4) % (bytes.length - 4)) % end;
}

/** Returns an image with changes: clustered or scattered data, zeros, and another length. */
function changed(image: Buffer, seed: string): Buffer {
  const roll = dice(seed);
  const length = Math.max(1, image.length + [0, 0, 3 * MIB + 5, -MIB - 7][roll(4)]!);
  const next = Buffer.alloc(length);
  image.copy(next);
  for (let count = 0; count < 8; count += 1) {
    const start = roll(Math.ceil(length / BLOCK)) * BLOCK;
    const size = [BLOCK, 5 * BLOCK, 40 * BLOCK, 300 * BLOCK][roll(4)]!;
    const end = Math.min(length, start + size);
    if (roll(3) === 0) next.fill(0, start, end);
    else letters(`${seed} ${count}`, end - start).copy(next, start);
  }
  return next;
}

/** The seeds. Of the first two, one has small pieces and images that shrink, one large pieces and images that grow. */
const SEEDS = [...new Set([5, 3, ...Array(30).keys()])].slice(0, trials({ few: 1, all: 8 }));

test.each(SEEDS.map(String))(
  "flattens every generation to the file that createSnapshot makes of its image, with seed %s",
  async (seed) => {
    const roll = dice(`encoding ${seed}`);
    const encoding = { level: [1, 3, 6][roll(3)]!, pieceSize: [64 * KIB, MIB, 4 * MIB][roll(3)]! };
    const images = [letters(seed, 6 * MIB + 4 * roll(3))];
    images[0]!.fill(0, 2 * MIB, 2 * MIB + roll(MIB));
    for (let count = 0; count < trials({ few: 2, all: 3 }); count += 1)
      images.push(changed(images.at(-1)!, `${seed} ${count}`));
    const { names } = await writeChain(images, encoding);
    for (const [generation, image] of images.entries()) {
      const { level } = encoding;
      const flat = path("flat.vhs");
      const info = await flattenSnapshot(path(names[generation]!), flat, { level, workers: 1 });
      expectSame(readFileSync(flat), await fullSnapshot(image, encoding));
      const { duration, ...properties } = info;
      expect(duration).toBeGreaterThan(0);
      expect(properties).toEqual(await inspectSnapshot(flat));
    }
  },
);

test("changes the level and the piece size of a delta and of a full snapshot", async () => {
  const image = letters("encoding", 3 * MIB + 5);
  const { names } = await writeChain([image, changed(image, "encoding")], { level: 6 });
  const encodings = [{ level: 1 }, { pieceSize: 256 * KIB }, {}];
  for (const [index, encoding] of encodings.entries()) {
    for (const [at, name] of names.entries()) {
      // `npm test` tries every other pair.
      if ((index + at) % trials({ few: 2, all: 1 }) > 0) continue;
      await flattenSnapshot(path(name), path("flat.vhs"), { workers: 1, ...encoding });
      const expected = at === 0 ? image : changed(image, "encoding");
      expectSame(readFileSync(path("flat.vhs")), await fullSnapshot(expected, encoding));
    }
  }
});

test("flattens a snapshot of an empty image", async () => {
  const { names } = await writeChain([Buffer.alloc(0)]);
  await flattenSnapshot(path(names[0]!), path("flat.vhs"));
  expectSame(readFileSync(path("flat.vhs")), await fullSnapshot(Buffer.alloc(0)));
});

test("flattens a delta on a server, and sends the headers of the caller there", async () => {
  const image = letters("server", 3 * MIB);
  const next = changed(image, "server");
  const { names } = await writeChain([image, next]);
  const files = Object.fromEntries(names.map((name) => [`/${name}`, readFileSync(path(name))]));
  const asked: (string | undefined)[] = [];
  const origin = await originOf(files, {
    faults: ({ headers }) => void asked.push(headers.authorization),
  });
  const headers = { authorization: "Bearer secret" };
  const source = origin.url(`/${names[1]}`);
  await flattenSnapshot(source, path("flat.vhs"), { headers, workers: 1 });
  expectSame(readFileSync(path("flat.vhs")), await fullSnapshot(next));
  expect(new Set(asked)).toEqual(new Set(["Bearer secret"]));
});

test("takes base objects from where resolve says, and needs all of them", async () => {
  const image = letters("resolve", 3 * MIB);
  const next = changed(image, "resolve");
  const { names } = await writeChain([image, next]);
  const [base, delta] = names.map((name) => path(name)) as [string, string];
  writeFileSync(path("moved"), readFileSync(base));
  rmSync(base);
  const error = await refusalOf(flattenSnapshot(delta, path("missing.vhs")), "ERR_SOURCE");
  expect(error.message).toContain("base object");
  expect(() => readFileSync(path("missing.vhs"))).toThrow("ENOENT");
  await flattenSnapshot(delta, path("flat.vhs"), { resolve: () => path("moved") });
  expectSame(readFileSync(path("flat.vhs")), await fullSnapshot(next));
});

test("refuses to replace the delta or one of its base objects", async () => {
  const image = letters("same", 3 * MIB);
  const { names } = await writeChain([image, changed(image, "same")]);
  const [base, delta] = names.map((name) => path(name)) as [string, string];
  symlinkSync(base, path("link"));
  for (const destination of [delta, base, path("link")]) {
    const before = readFileSync(destination);
    await refusalOf(flattenSnapshot(delta, destination), "ERR_ARGUMENT");
    expectSame(readFileSync(destination), before);
  }
  const origin = await originOf({});
  const remote = origin.url("/base.vhs");
  await refusalOf(flattenSnapshot(delta, remote, { resolve: () => remote }), "ERR_ARGUMENT");
});

test("respects overwrite, digest and signal, and leaves no files", async () => {
  const image = letters("options", 2 * MIB);
  const { names } = await writeChain([image, changed(image, "options")]);
  const delta = path(names[1]!);
  const kept = path("kept.vhs");
  writeFileSync(kept, "kept");
  const flatten = (options: Parameters<typeof flattenSnapshot>[2]) =>
    flattenSnapshot(delta, kept, { workers: 1, ...options });
  await refusalOf(flatten({ overwrite: false }), "ERR_TARGET");
  await refusalOf(flatten({ digest: "0".repeat(64) }), "ERR_SNAPSHOT_DIGEST");
  const phases = new Set<string>();
  for (const aborted of ["restore", "create"]) {
    const controller = new AbortController();
    const work = flatten({
      signal: controller.signal,
      onProgress({ phase }) {
        phases.add(phase);
        if (phase === aborted) controller.abort(new Error(aborted));
      },
    });
    expect(await rejectionOf(work)).toMatchObject({ message: aborted });
  }
  expect([...phases]).toEqual(["restore", "create"]);
  expect(readFileSync(kept, "utf8")).toBe("kept");
  expect(leftovers(join(kept, ".."))).toEqual([]);
});
