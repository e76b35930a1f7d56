/** Changes that are made in unusual ways are found, on disks that can and cannot tell which blocks files share. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { imageIn, KIB, MIB, newDirectories, openCache } from "../support/cache.js";
import { differences } from "../support/changes.js";
import { xfsDisk } from "../support/loop-disk.js";

const SIZE = 4 * MIB + 12_345;

const disk = xfsDisk(512 * MIB);
const plain = temporaryFolder();

/** The ways to change an image. */
const CHANGES: Readonly<Record<string, (image: string) => unknown>> = {
  "nothing at all": () => {},
  "a write that is not on the disk yet": (image) => patch(image, "changed", 1_000_000),
  "a write through another name"(image) {
    linkSync(image, `${image}.link`);
    patch(`${image}.link`, "changed", 3 * MIB);
  },
  "a write to mapped memory"(image) {
    const open = "f=open(sys.argv[1],'r+b'); m=mmap.mmap(f.fileno(),0)";
    python(`import mmap,sys; ${open}; m[5000:5004]=b'mmap'`, image);
  },
  "a hole that was punched": (image) => fallocate(image, "--punch-hole", 64 * KIB, 200 * KIB),
  "a range that was zeroed": (image) => fallocate(image, "--zero-range", 2 * MIB, 100 * KIB),
  "space that was allocated in a hole": (image) => fallocate(image, "", 2.5 * MIB, 300 * KIB),
  "a range that was cut out": (image) => fallocate(image, "--collapse-range", MIB, 64 * KIB),
  "an end that was cut off": (image) => truncateSync(image, 3 * MIB + 5),
  "an end that was cut off and grew again as zeros"(image) {
    truncateSync(image, 3 * MIB + 5);
    truncateSync(image, SIZE);
  },
  "an end that grew as zeros": (image) => truncateSync(image, SIZE + 3 * MIB),
  "data after the end": (image) => patch(image, "after the end", SIZE + 100),
  "the same data, written again": (image) => patch(image, readFileSync(image).subarray(0, MIB), 0),
  "a file of another content under the same name"(image) {
    rmSync(image);
    writeFileSync(image, noise("other", SIZE));
  },
  "a copy of the same content"(image) {
    copyFileSync(image, `${image}.copy`);
    execFileSync("dd", [`if=${image}.copy`, `of=${image}.whole`, "bs=1M"], { stdio: "ignore" });
    renameSync(`${image}.whole`, image);
  },
  "data that moved by sharing blocks"(image) {
    const move = "os.copy_file_range(f.fileno(), f.fileno(), 65536, 0, 3 << 20)";
    python(`import os,sys; f=open(sys.argv[1],'r+b'); ${move}`, image);
  },
};

function python(program: string, image: string): void {
  execFileSync("python3", ["-c", program, image]);
}

function patch(image: string, bytes: string | Buffer, offset: number): void {
  const file = openSync(image, "r+");
  writeSync(file, Buffer.from(bytes), 0, Buffer.byteLength(bytes), offset);
  closeSync(file);
}

function fallocate(image: string, mode: string, offset: number, length: number): void {
  const range = ["--offset", `${offset}`, "--length", `${length}`];
  execFileSync("fallocate", [...(mode === "" ? [] : [mode]), ...range, image]);
}

/** The bytes of the base: data, a hole and data. */
const BASE = noise("base", SIZE);
BASE.fill(0, 2.5 * MIB, 3 * MIB);

/** A base on a disk, and its digest. */
interface Base {
  readonly base: string;
  readonly digest: string;
}

async function makeBase(path: (...parts: string[]) => string): Promise<Base> {
  const [image, base] = [path("image"), path("base.vhs")];
  writeFileSync(image, BASE);
  const { digest } = await createSnapshot(image, base, { workers: 1, pieceSize: 256 * KIB });
  return { base, digest };
}

/** Returns a copy of the image of a base in a cache, which shares its blocks if the disk can. */
async function copyOfBase(
  path: (...parts: string[]) => string,
  directory: string,
  { base, digest }: Base,
) {
  const cache = await openCache(directory);
  const image = path("image");
  for (const name of [image, `${image}.link`]) rmSync(name, { force: true });
  await cache.get(base, { digest, copyTo: image, workers: 1 });
  return { cache, image, base, digest };
}

const disks = { XFS: { ...disk, isSharing: true }, "any disk": { path: plain, isSharing: false } };

describe.each(Object.entries(disks))("on %s", (name, { path, isSharing }) => {
  const newDirectory = newDirectories(path);
  // A new cache for each test takes another restore.
  const shared = newDirectory();
  let original: Base;

  beforeAll(async () => {
    original = await makeBase(path);
  });

  // `npm test` tries all changes where they are found by extents, and some where all bytes are compared.
  const changes = Object.keys(CHANGES).filter(
    (_, index) => isSharing || index % trials({ few: 6, all: 1 }) === 0,
  );

  test.each(changes)(`on ${name}, a delta contains %s`, async (change) => {
    const { cache, image, base, digest } = await copyOfBase(path, shared, original);
    CHANGES[change]!(image);
    const [delta, named] = [path("delta.vhs"), path("named.vhs")];
    const options = { base, workers: 1 };
    const info = await createSnapshot(image, delta, { ...options, baseDigest: digest, cache });
    const isWhole = /under the same name|same content|cut out/.test(change);
    if (!isWhole) expect(info.detection).toBe(isSharing ? "extents" : "compare");
    const bytes = readFileSync(image);
    const changed = differences(bytes, BASE);
    await createSnapshot(image, named, { ...options, changed });
    expectSame(readFileSync(delta), readFileSync(named));
    await restoreSnapshot(delta, path("restored"), { workers: 1 });
    expectSame(readFileSync(path("restored")), bytes);
  });

  test(`on ${name}, a clone of another image is compared with the base`, async () => {
    const { cache, image, base } = await copyOfBase(path, shared, original);
    const other = Buffer.from(BASE);
    noise("other", MIB).copy(other, MIB);
    writeFileSync(path("other"), other);
    await createSnapshot(path("other"), path("other.vhs"), { workers: 1 });
    await cache.get(path("other.vhs"), { copyTo: image, workers: 1 });
    const info = await createSnapshot(image, path("delta.vhs"), { base, cache, workers: 1 });
    expect(info).toMatchObject({ detection: "compare", changedBytes: MIB });
    await restoreSnapshot(path("delta.vhs"), path("restored"), { workers: 1 });
    expectSame(readFileSync(path("restored")), other);
  });

  test(`on ${name}, an image that was replaced in the cache shares nothing`, async () => {
    const { cache, image, base, digest } = await copyOfBase(path, newDirectory(), original);
    const cached = imageIn(cache.directory, digest);
    patch(image, "changed", 2 * MIB);
    writeFileSync(`${cached}.new`, BASE, { mode: 0o600 });
    renameSync(`${cached}.new`, cached);
    const info = await createSnapshot(image, path("delta.vhs"), { base, cache, workers: 1 });
    expect(info).toMatchObject({ detection: "compare", changedBytes: 4 * KIB });
    await restoreSnapshot(path("delta.vhs"), path("restored"), { workers: 1 });
    expectSame(readFileSync(path("restored")), readFileSync(image));
  });
});
