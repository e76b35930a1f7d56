/** Local paths and URLs of images and snapshots. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createSnapshot,
  DiskStore,
  inspectSnapshot,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";
import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { expectSame, letters } from "../../../tests/support/snapshots/image.js";
import { refusalOf } from "./support/refusal.js";

const KIB = 2 ** 10;

const path = temporaryFolder();

const [image, snapshot] = [path("source image"), path("source.vhs")];
const bytes = letters("places", 10 * KIB);

beforeAll(async () => {
  writeFileSync(image, bytes);
  await createSnapshot(image, snapshot);
  mkdirSync(path("folder"));
  execFileSync("mkfifo", [path("pipe")]);
  symlinkSync(path("missing"), path("dangling link"));
});

test("accepts file: URLs as paths", async () => {
  const named = path("näme with % and #.vhs");
  await createSnapshot(image, pathToFileURL(named));
  expectSame(readFileSync(named), readFileSync(snapshot));
  await verifySnapshot(pathToFileURL(named));
  await restoreSnapshot(pathToFileURL(named).href, path("by URL"));
  expectSame(readFileSync(path("by URL")), bytes);
});

test.each([
  "ftp://user:secret@example.com/a.vhs?token=secret",
  "s3://secret:secret@bucket/a.vhs",
  "file://user:secret@example.com/a.vhs",
  "file://example.com/a.vhs?token=secret",
  "file:///a%2Fb.vhs?token=secret",
  "file:///a%00b.vhs?token=secret",
  "http://[secret",
])("rejects %s without showing its secrets", async (url) => {
  const urls = URL.canParse(url) ? [url, new URL(url)] : [url];
  for (const place of urls) {
    for (const act of [
      () => createSnapshot(image, place),
      () => restoreSnapshot(place, path("no")),
      () => inspectSnapshot(place),
      () => verifySnapshot(place),
    ]) {
      const error = await refusalOf(act(), "ERR_ARGUMENT");
      expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain("secret");
    }
  }
});

test.each(["s3:bucket/a.vhs", "s3:/bucket/a.vhs", "S3:a.vhs"])(
  "says what an S3 URL looks like for %s",
  async (place) => {
    const error = await refusalOf(createSnapshot(image, place), "ERR_ARGUMENT");
    expect(error.message).toContain("destination: expected s3://bucket/key");
    await refusalOf(verifySnapshot(place), "ERR_ARGUMENT");
    await refusalOf(DiskStore.open(place), "ERR_ARGUMENT");
    // An image is local.
    await refusalOf(restoreSnapshot(snapshot, place), "ERR_ARGUMENT");
  },
);

test("accepts URLs with one slash, and names like a scheme as paths", async () => {
  await verifySnapshot(`file:${snapshot}`);
  await refusalOf(verifySnapshot("https:"), "ERR_ARGUMENT");
  const named = relative(process.cwd(), path("s3:name"));
  await createSnapshot(image, `./${named}`);
  expectSame(readFileSync(path("s3:name")), readFileSync(snapshot));
});

test.each(["", "a\0b", undefined, null, 3])("rejects %j as a path", async (place) => {
  const wrong = place as string;
  await refusalOf(createSnapshot(wrong, path("no")), "ERR_ARGUMENT");
  await refusalOf(createSnapshot(image, wrong), "ERR_ARGUMENT");
  await refusalOf(restoreSnapshot(wrong, path("no")), "ERR_ARGUMENT");
  await refusalOf(restoreSnapshot(snapshot, wrong), "ERR_ARGUMENT");
  await refusalOf(inspectSnapshot(wrong), "ERR_ARGUMENT");
});

test("refuses to replace the image by its snapshot, by any name", async () => {
  symlinkSync(image, path("link to image"));
  for (const place of [image, path("folder", "..", "source image"), path("link to image")]) {
    await refusalOf(createSnapshot(image, place), "ERR_ARGUMENT");
  }
  expectSame(readFileSync(image), bytes);
});

test("refuses to replace a snapshot by its image, by any name", async () => {
  const before = readFileSync(snapshot);
  symlinkSync(snapshot, path("link to snapshot"));
  for (const place of [snapshot, path("link to snapshot")]) {
    await refusalOf(restoreSnapshot(snapshot, place), "ERR_ARGUMENT");
  }
  expectSame(readFileSync(snapshot), before);
});

const unreadable: readonly [string, () => string][] = [
  ["a missing file", () => path("missing")],
  ["a directory", () => path("folder")],
  ["a device", () => "/dev/zero"],
  ["a pipe", () => path("pipe")],
  ["a path below a file", () => path("source image", "image")],
];

test.each(unreadable)("rejects %s as image and as snapshot", async (_, place) => {
  const error = await refusalOf(createSnapshot(place(), path("no")), "ERR_IMAGE");
  expect(error.message).toContain(place());
  await refusalOf(restoreSnapshot(place(), path("no")), "ERR_SOURCE");
  await refusalOf(verifySnapshot(place()), "ERR_SOURCE");
  await refusalOf(inspectSnapshot(place()), "ERR_SOURCE");
  expect(() => statSync(path("no"))).toThrow("ENOENT");
});

const unwritable: readonly [string, () => string][] = [
  ["a directory", () => path("folder")],
  ["a device", () => "/dev/null"],
  ["a pipe", () => path("pipe")],
  ["a path in a missing directory", () => path("missing", "target")],
  ["a path below a file", () => path("source image", "target")],
  ["a dangling link", () => path("dangling link")],
];

test.each(unwritable)("rejects %s as a target", async (_, place) => {
  const error = await refusalOf(createSnapshot(image, place()), "ERR_TARGET");
  expect(error.message).toContain(place());
  await refusalOf(restoreSnapshot(snapshot, place()), "ERR_TARGET");
  expect(leftovers(path())).toEqual([]);
});

test("keeps what a rejected target was", () => {
  expect(statSync(path("folder")).isDirectory()).toBe(true);
  expect(lstatSync(path("dangling link")).isSymbolicLink()).toBe(true);
  expect(statSync(path("pipe")).isFIFO()).toBe(true);
});

test("follows a link to the target and keeps it", async () => {
  for (const [name, make] of Object.entries({
    "target.vhs": (to: string) => createSnapshot(image, to),
    target: (to: string) => restoreSnapshot(snapshot, to),
  })) {
    writeFileSync(path("folder", name), "old");
    const link = path(`link to ${name}`);
    symlinkSync(path("folder", name), link);
    await make(link);
    expect(readlinkSync(link)).toBe(path("folder", name));
    expect(lstatSync(path("folder", name)).isFile()).toBe(true);
  }
  expectSame(readFileSync(path("folder", "target.vhs")), readFileSync(snapshot));
  expectSame(readFileSync(path("folder", "target")), bytes);
  expect(leftovers(path("folder"))).toEqual([]);
});

test("creates files that only their owner may read, even over a public one", async () => {
  const before = process.umask(0);
  try {
    writeFileSync(path("old"), "old");
    chmodSync(path("old"), 0o644);
    await createSnapshot(image, path("new.vhs"));
    await restoreSnapshot(snapshot, path("new"));
    await restoreSnapshot(snapshot, path("old"));
  } finally {
    process.umask(before);
  }
  for (const name of ["new.vhs", "new", "old"]) {
    expect(statSync(path(name)).mode & 0o777, name).toBe(0o600);
  }
});

test("keeps a replaced file intact for processes that have it open", async () => {
  writeFileSync(path("held"), "old");
  const held = await open(path("held"), "r");
  try {
    await restoreSnapshot(snapshot, path("held"));
    expect(await held.readFile("utf8")).toBe("old");
    expectSame(readFileSync(path("held")), bytes);
  } finally {
    await held.close();
  }
});
