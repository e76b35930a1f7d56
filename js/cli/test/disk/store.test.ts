/** The commands that manage a store of disks, in a folder. */
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSnapshot, DiskStore, restoreSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { hedgerow, hedgerowProcess } from "../support/bin.js";
import { failure, json, makePlaces } from "../support/disk-store.js";
import { SMALL } from "../support/images.js";

const BLOCK = Buffer.alloc(4096, "new");

/** A folder with a store, and the identity of the first generation of its disk. Each test gets a copy. */
let original: string;
let digest: string;

beforeAll(async () => {
  original = mkdtempSync(join(tmpdir(), "hedgerow-cli-"));
  const [store, image] = ["store", "disk.img"].map((name) => join(original, name));
  writeFileSync(image!, SMALL);
  const create = ["create", store!, "alice", "--image", image!, "--label", "first"];
  ({ digest } = await json(create));
  await using disks = await DiskStore.open(store!, { images: join(original, "images") });
  const disk = await disks.attach("alice");
  await disk.write(0, BLOCK);
  await disk.save({ label: "second" });
  await disk.write(4096, BLOCK);
  await disk.detach();
});
afterAll(() => rmSync(original, { recursive: true, force: true }));

/** Returns a store with a disk of a small image that was saved twice. */
function saved() {
  const places = makePlaces();
  const { store, root } = places;
  const images = join(root, "images");
  for (const [name, copy] of [
    ["store", store],
    ["images", images],
  ] as const)
    cpSync(join(original, name), copy, { recursive: true, preserveTimestamps: true });
  return { ...places, images, digest };
}

/** Leaves the local image of a process that ended without saving. */
async function unsaved() {
  const places = saved();
  const { store, images } = places;
  const disks = await DiskStore.open(store, { images });
  const disk = await disks.attach("alice");
  await disk.write(8192, BLOCK);
  const thief = await DiskStore.open(store, { images: join(places.root, "thief") });
  await (await thief.attach("alice", { steal: true })).detach();
  await thief.close();
  await expect(disk.detach()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  await disks.close();
  return { ...places, local: disk.image };
}

/** The content of the disk after both saves. */
const SAVED = Buffer.concat([BLOCK, BLOCK, SMALL.subarray(8192)]);

test("creates a disk from an image, from a snapshot, or empty", async () => {
  const { root, store, image } = makePlaces();
  const snapshot = join(root, "disk.vhs");
  const { digest } = await createSnapshot(image, snapshot, { workers: 1 });
  const facts = { number: 1, digest };
  expect(await json(["create", store, "a", "--image", image])).toMatchObject(facts);
  const from = ["--from", snapshot, "--digest", digest, "--label", "copy"];
  const copied = await json(["create", store, "b", ...from]);
  expect(copied).toMatchObject({ ...facts, label: "copy" });
  await restoreSnapshot(copied.source, join(root, "restored.img"));
  expect(readFileSync(join(root, "restored.img")).equals(SMALL)).toBe(true);
  const { code, out, err } = await hedgerow(["disk", "create", store, "c", "--size", "2GiB"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^generation +1\nidentity +[0-9a-f]{64}\nsaved +2\d{3}-.* UTC\nsize +/);
  expect(await json(["stat", store, "c"])).toMatchObject({ size: 2 ** 31 });
  expect(await failure(["create", store, "c", "--size", "1MiB"])).toMatchObject({
    ...{ exit: 3, code: "ERR_DISK_EXISTS" },
  });
});

test("lists names in order, and with a prefix", async () => {
  const { store } = makePlaces();
  for (const name of ["b1", "a1", "b3", "b2"]) await json(["create", store, name, "--size", "0"]);
  const list = async (...args: string[]) => (await hedgerow(["disk", "list", store, ...args])).out;
  expect(await list()).toBe("a1\nb1\nb2\nb3\n");
  expect(await list("--prefix", "b")).toBe("b1\nb2\nb3\n");
  expect(await list("--prefix", "c")).toBe("");
  expect(await json(["list", store, "--prefix", "a"])).toEqual({ names: ["a1"] });
});

test("prints the generations of a disk, and its state", async () => {
  const { store, digest } = saved();
  const { name, generations } = await json(["history", store, "alice"]);
  expect(name).toBe("alice");
  expect(generations).toMatchObject([
    { number: 1, digest, label: "first" },
    { number: 2, label: "second" },
    { number: 3 },
  ]);
  const history = await hedgerowProcess(["disk", "history", store, "alice"]);
  expect(history).toMatchObject({ code: 0, err: "" });
  const [head, first] = history.out.split("\n");
  expect(head).toMatch(/^generation +saved +size +with bases +identity +fork of +label$/);
  expect(first).toMatch(new RegExp(`^1 +\\S+ \\S+ UTC .* ${digest.slice(0, 12)} +first$`));

  const status = await json(["stat", store, "alice"]);
  expect(status).toMatchObject({ name: "alice", size: SMALL.length, generations: 3 });
  expect(status.last).toEqual(generations[2]);
  expect(status.attached).toBeUndefined();
  const { out } = await hedgerow(["disk", "stat", store, "alice"]);
  for (const row of [/^generations +3$/m, /^last generation +3$/m, /^attached +no$/m])
    expect(out).toMatch(row);
});

test("lists the generations that need a snapshot", async () => {
  const { store, digest } = saved();
  await json(["fork", store, "alice", "bob", "--generation", "1"]);
  const explanation = await json(["list", store, "--snapshot", digest]);
  expect(explanation.references).toEqual([
    { name: "alice", generation: 1, as: "snapshot" },
    { name: "alice", generation: 2, as: "base" },
    { name: "alice", generation: 3, as: "base" },
    { name: "bob", generation: 1, as: "snapshot" },
  ]);
  const { out } = await hedgerow(["disk", "list", store, "--snapshot", digest]);
  expect(out).toMatch(/^size +.* bytes\)\nreferences +4\ndisk +generation +as$/m);
  expect(out).toMatch(/^alice +2 +base$/m);
  const none = await hedgerow(["disk", "list", store, "--snapshot", "0".repeat(64)]);
  expect(none.out).toMatch(/^size +not in the store\nreferences +0\n$/m);
});

test("forks a generation, and creates no fork if one of the names is in use", async () => {
  const { store, digest } = saved();
  const args = ["fork", store, "alice", "bob", "carol", "--generation", "1"];
  expect(await hedgerow(["disk", ...args])).toEqual({ code: 0, out: "bob\ncarol\n", err: "" });
  const { last } = await json(["stat", store, "carol"]);
  expect(last).toMatchObject({ digest, parent: { name: "alice", generation: 1 } });
  expect(await failure(["fork", store, "alice", "dave", "bob"])).toMatchObject({
    ...{ exit: 3, code: "ERR_DISK_EXISTS" },
  });
  expect(await json(["list", store, "--prefix", "d"])).toEqual({ names: [] });
  expect(await json(["fork", store, "alice", "dave"])).toEqual({ forks: ["dave"] });
  expect(await failure(["fork", store, "alice", "e", "--generation", "9"])).toMatchObject({
    ...{ exit: 3, code: "ERR_NO_DISK" },
  });
});

test("rolls back to an earlier generation", async () => {
  const { store, digest } = saved();
  const { out } = await hedgerow(["disk", "rollback", store, "alice", "1"]);
  expect(out).toMatch(new RegExp(`^generation +4\nidentity +${digest}\n`));
  expect(await json(["rollback", store, "alice", "2"])).toMatchObject({ number: 5 });
});

test("expires generations, and collects their snapshots after the grace period", async () => {
  const { store, digest } = saved();
  await json(["rollback", store, "alice", "1"]);
  const expire = ["expire", store, "--keep-last", "1"];
  const expired = [1, 2, 3].map((generation) => ({ name: "alice", generation }));
  expect(await json([...expire, "--dry-run"])).toEqual({ expired });
  expect(await json([...expire, "--older-than", "1d"])).toEqual({ expired: [] });
  expect(await json([...expire, "--name", "alice", "--dry-run"])).toEqual({ expired });
  expect((await hedgerow(["disk", ...expire])).out).toBe(
    "disk   generation\nalice  1\nalice  2\nalice  3\n",
  );
  const { generations } = await json(["history", store, "alice"]);
  expect(generations).toMatchObject([{ number: 4, digest }]);

  const collect = ["collect", store, "--grace", "0ms"];
  expect(await json(["collect", store])).toMatchObject({ deleted: [], marked: 2 });
  const dry = await hedgerow(["disk", ...collect, "--dry-run"]);
  expect(dry.out).toMatch(/^snapshots +3\nwould delete +2, .* bytes\)\nin grace period +0\n/);
  const { deleted, bytes } = await json(collect);
  const sizes = deleted.map((one: { readonly bytes: number }) => one.bytes);
  expect([sizes.length, sizes[0] + sizes[1]]).toEqual([2, bytes]);
  expect(readdirSync(join(store, "snapshots"))).toEqual([`${digest}.vhs`]);
  expect((await hedgerow(["disk", ...collect])).out).toMatch(/^snapshots +1\ndeleted +0, 0 B/);
});

test("removes a disk, but not its forks", async () => {
  const { store } = saved();
  await json(["fork", store, "alice", "bob", "carol"]);
  expect((await hedgerow(["disk", "remove", store, "alice"])).out).toBe("removed  alice\n");
  expect(await json(["remove", store, "bob"])).toEqual({ removed: "bob" });
  expect(await json(["list", store])).toEqual({ names: ["carol"] });
  for (const command of ["remove", "stat", "history", "verify"])
    expect(await failure([command, store, "alice"])).toMatchObject({
      exit: 3,
      code: "ERR_NO_DISK",
    });
});

test("verifies every byte of a generation, and the sizes of all snapshots", async () => {
  const { store, digest } = saved();
  expect(await json(["verify", store, "alice"])).toMatchObject({ number: 3 });
  const { out } = await hedgerow(["disk", "verify", store, "alice", "--generation", "1"]);
  expect(out).toContain(digest);
  const file = join(store, "snapshots", `${digest}.vhs`);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.with(1000, bytes[1000]! ^ 1));
  const damaged = await failure(["verify", store, "alice", "--generation", "1"]);
  expect(damaged).toMatchObject({ exit: 3, message: expect.stringContaining(digest) });
  truncateSync(file, 1000);
  expect(await failure(["verify", store, "alice"])).toMatchObject({ exit: 3, code: "ERR_STORE" });
});

test("lists unsaved local images, and saves one as a new disk", async () => {
  const { root, store, images, local } = await unsaved();
  const found = await json(["recover", store, "--images", images]);
  const facts = { name: "alice", generation: 3, changedBytes: 4096, image: local };
  expect(found.images).toEqual([expect.objectContaining(facts)]);
  const { out } = await hedgerow(["disk", "recover", store, "--images", images]);
  expect(out).toBe(`disk   generation  changed  image\nalice  3           4.1 kB   ${local}\n`);
  const saved = await json(["recover", store, local, "--as", "alice-2", "--label", "recovered"]);
  expect(saved).toMatchObject({ label: "recovered", parent: { name: "alice", generation: 3 } });
  await restoreSnapshot(saved.source, join(root, "restored.img"));
  const expected = Buffer.concat([SAVED.subarray(0, 8192), BLOCK, SAVED.subarray(12_288)]);
  expect(readFileSync(join(root, "restored.img")).equals(expected)).toBe(true);
  expect(await json(["recover", store, "--images", images])).toEqual({ images: [] });
  expect(readdirSync(images)).toEqual(["lock"]);
});

test("lists a local image whose files are damaged", async () => {
  const { store, images, local } = await unsaved();
  const [state] = readdirSync(images).filter((name) => name.endsWith(".state"));
  truncateSync(join(images, state!), 5_000);
  const { out } = await hedgerow(["disk", "recover", store, "--images", images]);
  expect(out).toBe(`disk   generation  changed  image\nalice  3           unknown  ${local}\n`);
});

test("discards an unsaved local image, but not one that a process has open", async () => {
  const { store, images, local } = await unsaved();
  expect((await hedgerow(["disk", "recover", store, local, "--discard"])).out).toBe(
    `removed  ${local}\n`,
  );
  expect(readdirSync(images)).toEqual(["lock"]);
  expect(await failure(["recover", store, local, "--discard"])).toMatchObject({
    exit: 2,
    code: "ERR_ARGUMENT",
  });
  const disks = await DiskStore.open(store, { images });
  onTestFinished(() => disks.close());
  const disk = await disks.attach("alice");
  await disk.write(0, BLOCK);
  const refused = await failure(["recover", store, disk.image, "--discard"]);
  expect(refused).toMatchObject({ exit: 3, message: expect.stringContaining("has it open") });
  await disk.detach();
  expect(await json(["stat", store, "alice"])).toMatchObject({ generations: 4 });
});

test("removes local images without changes when it collects", async () => {
  const { store, images } = saved();
  writeFileSync(join(images, "other.txt"), "mine");
  const disks = await DiskStore.open(store, { images });
  const disk = await disks.attach("alice");
  const [left] = readdirSync(images).filter((name) => name.endsWith(".json"));
  const record = readFileSync(join(images, left!));
  await disk.detach();
  await disks.close();
  writeFileSync(join(images, left!), record);
  await json(["collect", store, "--images", images, "--dry-run"]);
  expect(readdirSync(images)).toContain(left);
  await json(["collect", store, "--images", images]);
  expect(readdirSync(images)).toEqual(["lock", "other.txt"]);
});

const COMMANDS = [
  ["attach", "NAME", "--port", "0"],
  ["list"],
  ["history", "NAME"],
  ["stat", "NAME"],
  ["list", "--snapshot", "0".repeat(64)],
  ["expire", "--keep-last", "1"],
  ["collect"],
  ["rollback", "NAME", "1"],
  ["fork", "NAME", "OTHER"],
  ["remove", "NAME"],
  ["verify", "NAME"],
  ["recover"],
  ["recover", "IMAGE", "--as", "NAME"],
] as const;

test.for(COMMANDS)("does not make a store: %s", async (command) => {
  const { root } = makePlaces();
  const [verb, ...others] = command;
  for (const place of ["run", "missing"]) {
    const found = await failure([verb, join(root, place), ...others]);
    expect(found).toMatchObject({ exit: 3, code: "ERR_STORE" });
    expect(found.message).toContain("expected a store of disks, found none");
  }
  expect(readdirSync(join(root, "run"))).toEqual([]);
  expect(readdirSync(root)).not.toContain("missing");
});

test("refuses a store that others can write to", async () => {
  const { store } = saved();
  chmodSync(store, 0o770);
  expect(await failure(["list", store])).toMatchObject({
    ...{
      exit: 3,
      code: "ERR_STORE",
      message: expect.stringContaining("only its owner can write to"),
    },
  });
});

test.each([["list"], ["create", "a", "--size", "1"]])(
  "refuses a file in place of a store: %s",
  async (command, ...others) => {
    const { image } = makePlaces();
    const refused = await failure([command, image, ...others]);
    expect(refused).toMatchObject({ exit: 3, code: "ERR_STORE" });
    expect(refused.message).toBe(`${image}: expected a folder for disks, found a file`);
  },
);

test.for([
  [["create", "STORE", "a"], "--from, --image and --size: expected one of them, found none"],
  [["create", "STORE", "a", "--size", "1", "--image", "b"], "expected one of them, found 2"],
  [
    ["create", "STORE", "a", "--size", "17TiB"],
    "size: expected a whole number from 0 to 175921860",
  ],
  [["create", "STORE", "a/b", "--size", "1"], "name: expected 1 to 128 letters"],
  [["create", "-", "a", "--size", "1"], "not standard input or output"],
  [
    ["create", "https://user:secret@host/x", "a", "--size", "1"],
    "expected a folder or the URL of an",
  ],
  [["list", "STORE", "--header", "a: b"], "unknown option '--header'"],
  [["list", "STORE", "--prefix", "../"], "prefix: expected 1 to 128 letters"],
  [["expire", "STORE"], "--keep-last and --older-than: expected at least one of them"],
  [["expire", "STORE", "--older-than", "1w"], "olderThan: expected a duration"],
  [["expire", "STORE", "--keep-last", "0"], "keepLast: expected"],
  [["collect", "STORE", "--grace", "soon"], "grace: expected a duration"],
  [["list", "STORE", "--snapshot", "abc"], "digest: expected"],
  [["list", "STORE", "--snapshot", "abc", "--prefix", "a"], "expected one of them, found both"],
  [["rollback", "STORE", "a", "x"], "expected a whole number"],
  [["fork", "STORE", "a"], "missing required argument 'fork'"],
  [["fork", "STORE", "a", "b", "b"], "forks: expected a name, or different names"],
  [["attach", "STORE", "a"], "--socket and --port: expected one of them, found neither"],
  [["attach", "STORE", "a", "--port", "0", "--save-every", "1"], "saveEvery: expected a duration"],
  [["attach", "STORE", "a", "--port", "0", "--hook-timeout", "x"], "hookTimeout: expected"],
  [["attach", "STORE", "a", "--port", "0", "--deadline", "1"], "expected a duration, such as"],
  [["attach", "STORE", "a", "--port", "0", "--cache", "x"], "expected both or neither"],
  [["recover", "STORE", "IMAGE", "--as", "a"], "expected the local image of a disk of this store"],
  [["recover", "STORE", "IMAGE"], "--as and --discard: expected one of them, found neither"],
  [["recover", "STORE", "IMAGE", "--as", "a", "--discard"], "expected one of them, found both"],
  [["recover", "STORE", "--discard"], "--as and --discard: expected an image with them"],
] as const)("refuses the command line %j", async ([args, message]) => {
  const { store, image, env } = makePlaces();
  await json(["create", store, "known", "--size", "0"]);
  const places: Record<string, string> = { STORE: store, IMAGE: image };
  const resolved = args.map((arg) => places[arg] ?? arg);
  const { code, out, err } = await hedgerow(["disk", ...resolved], "", env);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  const last = err.trimEnd().split("\n").at(-1);
  expect(last).toMatch(/^hedgerow: /);
  expect(last).toContain(message);
  expect(last).not.toContain("secret");
});
