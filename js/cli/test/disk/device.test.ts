/** Disks that the command serves as devices of engines. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test, vi } from "vitest";

import { mounts, processesOf } from "../support/disk.js";
import { attach, failure, json, withDisk } from "../support/disk-store.js";
import { SMALL } from "../support/images.js";

const BLOCK = Buffer.alloc(4096, "new");

/** A disk in a store, and a path to serve it at. */
async function withDevice(kind: string) {
  const { root, store, env } = await withDisk();
  mkdirSync(join(root, "tmp"));
  const path = join(root, "device");
  const args = [store, "alice", "--serve", kind, "--at", path];
  return { root, store, path, args, env: { ...env, TMPDIR: join(root, "tmp") } };
}

/** Writes the first block of a file durably. */
function writeBlock(path: string): void {
  const file = openSync(path, "r+");
  writeSync(file, BLOCK, 0, BLOCK.length, 0);
  fsyncSync(file);
  closeSync(file);
}

/** Expects the last generation to have the block, and nothing of the device to be left. */
async function expectSaved(root: string, store: string, path: string): Promise<void> {
  const { last, attached } = await json(["stat", store, "alice"]);
  expect(attached).toBeUndefined();
  await restoreSnapshot(last.source, join(root, "restored.img"));
  const expected = Buffer.concat([BLOCK, SMALL.subarray(4096)]);
  expect(readFileSync(join(root, "restored.img")).equals(expected)).toBe(true);
  expectNothing(root, path);
}

function expectNothing(root: string, path: string): void {
  expect(existsSync(path)).toBe(false);
  expect(mounts()).not.toContain(root);
  expect(processesOf(root)).toEqual([]);
  expect(readdirSync(join(root, "tmp"))).toEqual([]);
}

test("serves a disk as a file, and saves what was written to it", async () => {
  const { root, store, path, args, env } = await withDevice("file");
  const { out, stop } = await attach(args, env);
  expect(out).toBe(`${path}\n`);
  expect(readFileSync(path).equals(SMALL)).toBe(true);
  writeBlock(path);
  expect(await stop("SIGTERM")).toMatchObject({ code: "SIGTERM", err: "" });
  await expectSaved(root, store, path);
});

test("saves what was flushed, and ends with the reason, if nbdfuse is killed", async () => {
  const { root, store, path, args, env } = await withDevice("file");
  const { end } = await attach(args, env);
  writeBlock(path);
  for (const pid of processesOf(path)) process.kill(pid, "SIGKILL");
  expect(await end).toMatchObject({ code: 3, err: "hedgerow: nbdfuse ended with SIGKILL\n" });
  await expectSaved(root, store, path);
});

test("the engine of a killed process ends, and the disk can be attached again", async () => {
  const { root, path, args, env } = await withDevice("file");
  const { child, end } = await attach([...args, "--steal"], env);
  writeBlock(path);
  child.kill("SIGKILL");
  await end;
  await vi.waitFor(() => expect(processesOf(path)).toEqual([]), { timeout: 30_000 });
  expect(mounts()).not.toContain(root);
  const again = await attach([...args, "--steal"], env);
  expect(again.out).toBe(`${path}\n`);
  await again.stop("SIGTERM");
  expect(mounts()).not.toContain(root);
});

test("starts qemu-storage-daemon again when it is killed, and leaves nothing behind", async () => {
  const { root, path, args, env } = await withDevice("vhost-user-blk");
  const { out, stop, err } = await attach([...args, "--json"], env);
  expect(JSON.parse(out)).toMatchObject({ device: path });
  const [first = 0, ...others] = processesOf(path);
  expect(others).toEqual([]);
  process.kill(first, "SIGKILL");
  await vi.waitFor(
    () => {
      expect(processesOf(path).filter((pid) => pid !== first)).toHaveLength(1);
      expect(existsSync(path)).toBe(true);
    },
    { timeout: 30_000 },
  );
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
  expect(err()).toContain("qemu-storage-daemon ended with SIGKILL; starting it again");
  expectNothing(root, path);
});

test("says what a device of the kernel needs, and what works without it", async () => {
  const { root, store, path, args, env } = await withDevice("nbd-device");
  const { message } = await failure(["attach", ...args], env);
  expect(message).toContain("needs the kernel module nbd (modprobe nbd); --serve vhost-user-blk");
  expect((await json(["stat", store, "alice"])).attached).toBeUndefined();
  expectNothing(root, path);
});

test.each([
  [["--serve", "file"], "--serve file: expected --at, too"],
  [["--at", "x", "--port", "0"], "--at: expected --serve, too"],
  [["--serve", "file", "--at", "x", "--port", "0"], "--port: expected --serve nbd"],
])("refuses the options %j", async (options, expected) => {
  const { store, env } = await withDisk();
  const { exit, message } = await failure(["attach", store, "alice", ...options], env);
  expect({ exit, message }).toEqual({ exit: 2, message: expected });
});

test("presents volumes at paths, and saves them together with the disk", async () => {
  const { root, store, env } = await withDisk();
  mkdirSync(join(root, "tmp"));
  const volumes = ["--volume", "memory=1M", "--volume", "state"];
  await json(["create", store, "bob", "--size", "4KiB", ...volumes]);
  const [memory, state] = [join(root, "memory"), join(root, "state-link")];
  const mounted = ["--mount", `memory=${memory}`, "--mount", `state=${state}`];
  const options = { ...env, TMPDIR: join(root, "tmp") };
  const args = [store, "bob", "--socket", join(root, "bob.socket"), ...mounted];
  const { out, stop } = await attach([...args, "--json"], options);
  const { volumes: found } = JSON.parse(out);
  expect(found).toEqual({
    memory: { kind: "memory", path: memory },
    state: { kind: "file", path: state },
  });
  expect(readFileSync(memory).equals(Buffer.alloc(2 ** 20))).toBe(true);
  writeFileSync(state, "registers");
  const metadata = ["--metadata", '{"monitor":"none"}'];
  const saved = await json(["save", store, "bob", ...metadata], options);
  expect(saved).toMatchObject({ number: 2, metadata: { monitor: "none" }, changedBytes: 0 });
  // Without a flush: unmounting writes it back.
  const file = openSync(memory, "r+");
  writeSync(file, BLOCK, 0, BLOCK.length, 4096);
  closeSync(file);
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
  const { last } = await json(["stat", store, "bob"]);
  expect([last.number, last.metadata]).toEqual([3, undefined]);
  await restoreSnapshot(last.volumes.memory.source, join(root, "restored"));
  expect(readFileSync(join(root, "restored")).subarray(4096, 8192).equals(BLOCK)).toBe(true);
  await restoreSnapshot(last.volumes.state.source, join(root, "restored"));
  expect(readFileSync(join(root, "restored"), "utf8")).toBe("registers");
  expectNothing(root, memory);
  expect(existsSync(state)).toBe(false);
  const refused = await failure(["attach", ...args, "--mount", "nvram=x"], options);
  expect(refused).toMatchObject({ exit: 2, code: "ERR_USAGE" });
  expect(refused.message).toBe("--mount nvram: bob has memory, state");
});
