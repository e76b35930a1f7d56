/** The files of local images, which may be damaged or replaced. */
import { createHash } from "node:crypto";
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { UnsavedImage } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { MIB } from "../support/cache.js";
import { memoryDisk } from "../support/loop-disk.js";
import { refusalOf } from "../support/refusal.js";
import { BLOCK, fillBlock, lettersOf, openStore, whileAttached } from "../support/stores.js";

const path = temporaryFolder();
const full = memoryDisk(MIB);

/** Leaves local images with unsaved changes, and returns their paths. */
async function leaveImages(place: string, names: readonly string[]): Promise<string[]> {
  await using store = await openStore(place, { images: `${place}-images` });
  await using thief = await openStore(place, { images: `${place}-thief` });
  const images: string[] = [];
  for (const name of names) {
    await store.create(name, { size: 4 * BLOCK });
    const disk = await store.attach(name);
    await fillBlock(disk, 0, "x");
    await (await thief.attach(name, { steal: true })).detach();
    await refusalOf(disk.detach(), "ERR_LEASE_LOST");
    images.push(disk.image);
  }
  return images;
}

/** Cuts off the end of the state file of an image. */
function damage(image: string): void {
  const hash = createHash("sha256").update(basename(image)).digest("hex").slice(0, 16);
  truncateSync(join(dirname(image), `.hedgerow-${hash}.state`), 5_000);
}

test("the record of a local image replaces a link, and not the file to which it leads", async () => {
  const [place, precious] = [path("links"), path("precious")];
  writeFileSync(precious, "precious");
  await using store = await openStore(place, { images: `${place}-images` });
  await store.create("a", { size: 4 * BLOCK });
  const disk = await store.attach("a");
  const record = disk.image.replace(/raw$/, "json");
  rmSync(record);
  symlinkSync(precious, record);
  await fillBlock(disk, 0, "x");
  await disk.detach();
  expect(existsSync(record)).toBe(false);
  expect(readFileSync(precious, "utf8")).toBe("precious");
});

test("an image on a full file system is removed when it is given up", async () => {
  const place = path("full");
  await using store = await openStore(place, { images: full.path("images") });
  await store.create("a", { size: 4 * BLOCK });
  const disk = await store.attach("a");
  await fillBlock(disk, 0, "x");
  const fillUp = () => writeFileSync(full.path("rest"), Buffer.alloc(MIB));
  expect(fillUp).toThrow("ENOSPC");
  await refusalOf(store.attach("a", { steal: true }), "ERR_TARGET");
  await disk.detach({ save: false });
  expect(readdirSync(full.path("images"))).toEqual(["lock"]);
});

test("a damaged local image is listed, and keeps nobody from listing and collecting others", async () => {
  const place = path("store");
  const [damaged, other] = (await leaveImages(place, ["a", "b"])) as [string, string];
  damage(damaged);
  await using store = await openStore(place, { images: `${place}-images` });
  const listed: UnsavedImage[] = [];
  for await (const image of store.unsaved()) listed.push(image);
  expect(listed).toMatchObject([
    { image: damaged, name: "a", generation: 1, changedBytes: undefined },
    { image: other, name: "b", generation: 1, changedBytes: BLOCK },
  ]);
  await store.collect({ grace: 0 });
  for (const image of [damaged, other])
    expect(existsSync(image.replace(/raw$/, "json"))).toBe(true);
  expect((await refusalOf(store.recover(damaged, "c"), "ERR_TARGET")).message).toContain("5000");
  await store.recover(other, "d");
  await store.discard(damaged);
  expect(readdirSync(dirname(damaged))).toEqual(["lock"]);
});

test("a local image whose record is damaged is listed, and recovered by what its other files say", async () => {
  const place = path("records");
  const images = await leaveImages(place, ["a", "b"]);
  const records = images.map((image) => image.replace(/raw$/, "json"));
  const { digest } = JSON.parse(readFileSync(records[0] as string, "utf8"));
  for (const [at, length] of [0, 50].entries()) truncateSync(records[at] as string, length);
  // Other files are no records.
  writeFileSync(join(dirname(images[0] as string), "other.json"), "");
  await using store = await openStore(place, { images: `${place}-images` });
  const listed: UnsavedImage[] = [];
  for await (const image of store.unsaved()) listed.push(image);
  expect(listed.map(({ name, ...rest }) => [name, rest])).toEqual(
    ["a", "b"].map((name, at) => {
      const known = { generation: undefined, digest, changedBytes: BLOCK };
      return [name, { image: images[at], ...known }];
    }),
  );
  await store.collect({ grace: 0 });
  const [first, second] = images as [string, string];
  expect(await store.recover(first, "d")).toMatchObject({ number: 1, parent: undefined });
  expect(await whileAttached(store, "d", lettersOf)).toBe("x...");
  await store.discard(second);
  expect(readdirSync(dirname(first)).sort()).toEqual(["lock", "other.json"]);
});
