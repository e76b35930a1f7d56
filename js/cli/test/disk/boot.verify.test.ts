/** Debian's kernel boots from a disk that the command made of a folder, over each device that needs no kernel module. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { expect, onTestFinished, test } from "vitest";

import { addGuestPrograms, type Disk, Guest } from "../../../../tests/support/guest/guest.mjs";
import { hedgerow } from "../support/bin.js";
import { mounts, processesOf } from "../support/disk.js";
import { attach, json } from "../support/disk-store.js";
import { makeTree } from "../support/tree.js";
import { run } from "../support/trees.js";

/** How long a boot without KVM and each command may take on a busy machine, in milliseconds. */
const PATIENCE = 120_000;

/** A store with a disk that a guest boots from. */
async function withGuest() {
  const root = makeTree({ "run/": "", "state/": "", "tmp/": "" });
  const path = (name: string) => join(root, name);
  mkdirSync(path("tree"));
  addGuestPrograms(path("tree"));
  const made = ["image", "create", path("tree"), path("base.vhs"), "--free", "32MiB"];
  expect(await hedgerow(made)).toMatchObject({ code: 0, err: "" });
  await json(["create", path("store"), "alice", "--from", path("base.vhs")]);
  const env = { XDG_RUNTIME_DIR: path("run"), XDG_STATE_HOME: path("state"), TMPDIR: path("tmp") };
  return { root, path, env };
}

/** Returns a file in the last generation. */
async function fileIn(root: string, name: string): Promise<string> {
  const { last, attached } = await json(["stat", join(root, "store"), "alice"]);
  expect(attached).toBeUndefined();
  const image = join(root, "restored.img");
  rmSync(image, { force: true });
  await restoreSnapshot(last.source, image);
  return run("debugfs", "-R", `cat ${name}`, image);
}

async function boot(disk: Disk): Promise<Guest> {
  const guest = await Guest.start(disk, PATIENCE);
  onTestFinished(() => guest.kill());
  return guest;
}

test.each<[kind: string, options: (path: string) => string[], disk: (path: string) => Disk]>([
  ["NBD", (path) => ["--socket", path], (path) => `file=nbd+unix:///?socket=${path},format=raw`],
  [
    "vhost-user-blk",
    (path) => ["--serve", "vhost-user-blk", "--at", path],
    (path) => ({ vhostUser: path }),
  ],
  ["a file", (path) => ["--serve", "file", "--at", path], (path) => `file=${path},format=raw`],
])(
  "boots over %s, and keeps what was flushed when the engine is killed",
  async (_kind, options, disk) => {
    const { root, path, env } = await withGuest();
    const device = path("device");
    const args = [path("store"), "alice", ...options(device)];
    const serving = await attach(args, env);
    const guest = await boot(disk(device));
    await guest.run("echo flushed > /tmp/one; sync");
    const engines = processesOf(device).filter((pid) => !isQemu(pid));
    for (const pid of engines) process.kill(pid, "SIGKILL");
    if (args.includes("file")) {
      // The file is gone, and with it the machine.
      expect((await serving.end).code).toBe(3);
      await guest.kill();
    } else {
      await guest.run("echo later > /tmp/two; sync");
      await guest.powerOff();
      expect((await serving.stop("SIGTERM")).code).toBe("SIGTERM");
      expect(await fileIn(root, "/tmp/two")).toBe("later\n");
    }
    expect(await fileIn(root, "/tmp/one")).toBe("flushed\n");
    expect(existsSync(device)).toBe(false);
    expect(mounts()).not.toContain(root);
    expect(processesOf(root)).toEqual([]);
  },
  4 * PATIENCE,
);

/** Whether a process is the monitor. */
function isQemu(pid: number): boolean {
  return readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("qemu-system");
}
