/** A disk whose state file cannot be read is left as it is: its image may hold writes. */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createSnapshot, openSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { refusalOf } from "../support/refusal.js";

const path = temporaryFolder();
const BLOCK = noise("written", 4096);

/** Makes an incomplete disk with a write. Returns its options, and the path of its state file. */
async function writtenDisk(name: string) {
  writeFileSync(path("disk.img"), noise("image", 2 ** 20));
  await createSnapshot(path("disk.img"), path("disk.vhs"), { workers: 1 });
  const options = { image: path(name), fill: "none", workers: 1 } as const;
  const before = new Set(readdirSync(path()));
  const disk = await openSnapshot(path("disk.vhs"), options);
  await disk.write(8192, BLOCK);
  await disk.close();
  const [state] = readdirSync(path()).filter(
    (file) => !before.has(file) && file.endsWith(".state"),
  );
  return { options, state: path(state!) };
}

function overwrite(file: string, offset: number, bytes: Buffer): void {
  const fd = openSync(file, "r+");
  writeSync(fd, bytes, 0, bytes.length, offset);
  closeSync(fd);
}

function invert(file: string, offset: number): void {
  overwrite(file, offset, Buffer.of(readFileSync(file)[offset]! ^ 0xff));
}

test.each([
  ["of another version", (file: string) => overwrite(file, 0, Buffer.from("hedgerow disk 2\n"))],
  ["with a damaged header", (file: string) => invert(file, 100)],
  ["with a damaged last byte of its checksum", (file: string) => invert(file, 511)],
  ["that is cut off in a bitmap", (file: string) => truncateSync(file, 9000)],
])("refuses a state file %s, and keeps what was written", async (what, damage) => {
  const { options, state } = await writtenDisk(what);
  const intact = readFileSync(state);
  damage(state);
  await refusalOf(openSnapshot(path("disk.vhs"), options), "ERR_TARGET");
  overwrite(state, 0, intact);
  const disk = await openSnapshot(path("disk.vhs"), options);
  expect((await disk.read(8192, 4096)).equals(BLOCK)).toBe(true);
  await disk.close();
});

test("makes a disk again whose state file has no header yet", async () => {
  const { options, state } = await writtenDisk("again");
  overwrite(state, 0, Buffer.alloc(8192));
  const disk = await openSnapshot(path("disk.vhs"), options);
  expect((await disk.read(8192, 4096)).equals(noise("image", 2 ** 20).subarray(8192, 12_288))).toBe(
    true,
  );
  await disk.close();
});

test("gives an image its size that has lost it", async () => {
  const image = Buffer.concat([noise("short", 2 ** 20), Buffer.alloc(2 ** 20)]);
  writeFileSync(path("short.img"), image);
  await createSnapshot(path("short.img"), path("short.vhs"), { workers: 1 });
  mkdirSync(path("short"));
  const options = { image: path("short", "disk"), workers: 1 };
  await (await openSnapshot(path("short.vhs"), { ...options, fill: "none" })).close();
  const [partial] = readdirSync(path("short")).filter((name) => name.endsWith(".disk"));
  truncateSync(path("short", partial!), 0);
  await using disk = await openSnapshot(path("short.vhs"), options);
  await disk.filled;
  expectSame(readFileSync(options.image), image);
});
