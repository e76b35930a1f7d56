/** Disks that are opened again with a pinned snapshot: their manifest is beside the image. */
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createSnapshot, type OpenOptions, openSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, onTestFinished, test } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { isTail, originOf } from "../support/remote.js";

const [PIECE, MIB] = [2 ** 16, 2 ** 20];
const path = temporaryFolder();
const image = noise("kept", 4 * MIB);
let digest: string;
let count = 0;

beforeAll(async () => {
  writeFileSync(path("image"), image);
  ({ digest } = await createSnapshot(path("image"), path("a.vhs"), {
    pieceSize: PIECE,
    workers: 1,
  }));
  writeFileSync(path("other"), noise("other", 4 * MIB));
  await createSnapshot(path("other"), path("other.vhs"), { pieceSize: PIECE, workers: 1 });
});

/** Makes a disk, of which the first half is in the image if it is not complete. */
async function makeDisk(fill: "all" | "none", faults: { now?: Faults | undefined } = {}) {
  count += 1;
  const files = { "/a.vhs": readFileSync(path("a.vhs")) };
  const origin = await originOf(files, { faults: (request) => faults.now?.(request) });
  const options: OpenOptions = {
    ...{ image: path(`disk-${count}`), digest, fill, workers: 1, retries: 1 },
    trace: false,
  };
  const disk = await openSnapshot(origin.url("/a.vhs"), options);
  await disk.read(0, 2 * MIB);
  if (fill === "all") await disk.filled;
  await disk.close();
  origin.requests.length = 0;
  return { origin, options, url: origin.url("/a.vhs") };
}

/** Opens a disk again. It is closed when the test ends. */
async function reopen(url: URL, options: OpenOptions) {
  const disk = await openSnapshot(url, options);
  onTestFinished(() => disk.close());
  return disk;
}

test("a complete disk is opened again without a request", async () => {
  const { origin, options, url } = await makeDisk("all");
  const disk = await reopen(url, options);
  await disk.filled;
  expectSame(await disk.read(0, disk.size), image);
  expect(origin.requests).toEqual([]);
});

test("a disk is opened again while the server is away, and fetches the rest when it is back", async () => {
  const faults: { now?: Faults | undefined } = {};
  const { options, url } = await makeDisk("none", faults);
  faults.now = () => ({ status: 503 });
  const disk = await reopen(url, { ...options, fill: "all" });
  expectSame(await disk.read(0, 2 * MIB), image.subarray(0, 2 * MIB));
  const reading = disk.read(3 * MIB, 10);
  faults.now = undefined;
  expectSame(await reading, image.subarray(3 * MIB, 3 * MIB + 10));
  await disk.filled;
  expectSame(readFileSync(options.image), image);
});

test("a link where the manifest is kept is replaced, and not followed", async () => {
  const { options, url } = await makeDisk("none");
  const names = readdirSync(path()).filter((name) => name.endsWith(".manifest"));
  const manifest = names
    .map((name) => path(name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0]!;
  writeFileSync(path("precious"), "precious");
  rmSync(manifest);
  symlinkSync(path("precious"), manifest);
  const disk = await openSnapshot(url, options);
  await disk.close();
  expect(readFileSync(path("precious"), "utf8")).toBe("precious");
  expect(readFileSync(manifest).length).toBeGreaterThan(1000);
});

test("a first read needs one request", async () => {
  const faults: { now?: Faults | undefined } = {};
  const { origin, options, url } = await makeDisk("none", faults);
  // The request that opens the snapshot is never answered.
  faults.now = (request) => (isTail(request) ? { noAnswer: true } : undefined);
  const disk = await reopen(url, options);
  expectSame(await disk.read(3 * MIB, 10), image.subarray(3 * MIB, 3 * MIB + 10));
  expect(origin.requests.filter((request) => !isTail(request))).toHaveLength(1);
});

test("a server that redirects by now is followed", async () => {
  const faults: { now?: Faults | undefined } = {};
  const { origin, options, url } = await makeDisk("none", faults);
  origin.set("/moved.vhs", readFileSync(path("a.vhs")));
  faults.now = ({ path: at }) => (at === "/a.vhs" ? { location: "/moved.vhs" } : undefined);
  const disk = await reopen(url, options);
  expectSame(await disk.read(3 * MIB, 10), image.subarray(3 * MIB, 3 * MIB + 10));
});

test("a snapshot that was replaced is an error to readers of what is missing", async () => {
  const { origin, options, url } = await makeDisk("none");
  origin.set("/a.vhs", readFileSync(path("other.vhs")));
  const disk = await reopen(url, { ...options, fill: "all" });
  await expect(disk.read(3 * MIB, 10)).rejects.toMatchObject({ code: "ERR_SNAPSHOT_DIGEST" });
  await expect(disk.filled).rejects.toMatchObject({ code: "ERR_SNAPSHOT_DIGEST" });
  expectSame(await disk.read(0, MIB), image.subarray(0, MIB));
});

test("with onStall: error, the server is asked first", async () => {
  const faults: { now?: Faults | undefined } = {};
  const { options, url } = await makeDisk("none", faults);
  faults.now = () => ({ status: 404 });
  await expect(reopen(url, { ...options, onStall: "error" })).rejects.toMatchObject({
    ...{ code: "ERR_SOURCE", status: 404 },
  });
});

test.each([
  ["that is damaged", (bytes: Buffer) => bytes.fill(7, 100, 110)],
  ["that is cut off", (bytes: Buffer) => bytes.subarray(0, 5)],
  ["that is empty", () => Buffer.alloc(0)],
])("a manifest %s is requested again", async (_, damage) => {
  const { origin, options, url } = await makeDisk("all");
  const [name] = readdirSync(path()).filter((file) => {
    return file.endsWith(".manifest") && readFileSync(path(file)).length > 1000;
  });
  for (const file of readdirSync(path()).filter((one) => one.endsWith(".manifest")))
    writeFileSync(path(file), damage(readFileSync(path(name as string))));
  const disk = await reopen(url, options);
  expectSame(await disk.read(0, disk.size), image);
  expect(origin.requests.length).toBeGreaterThan(0);
});
