/** `overwrite: false` on file systems without hard links. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { type Program, startProgram } from "../../../tests/support/processes/serve.js";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { noise } from "../../../tests/support/snapshots/image.js";

const path = temporaryFolder();
const image = noise("no links", 2 ** 16);
const [mounted, ONE] = [path("mounted"), { workers: 1, overwrite: false } as const];

let rclone: Program | undefined;

afterAll(async () => {
  spawnSync("umount", ["--lazy", mounted]);
  await rclone?.close();
});

beforeAll(async () => {
  for (const name of ["files", "mounted"]) mkdirSync(path(name));
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("a.vhs"), ONE);
  const folders = [path("files"), mounted, "--cache-dir", path("cache")];
  const mount = ["rclone", "--config", "", "mount", "--vfs-cache-mode", "full", ...folders];
  rclone = startProgram(mount, { maxSeconds: 300 });
  await vi.waitUntil(() => statSync(mounted).dev !== statSync(path()).dev, 20_000);
});

test("a file on a FUSE file system of rclone appears if there is none, and is never replaced", async () => {
  const target = `${mounted}/new.img`;
  await restoreSnapshot(path("a.vhs"), target, ONE);
  expect(readFileSync(target).equals(image)).toBe(true);
  writeFileSync(`${mounted}/old.img`, "old");
  await expect(restoreSnapshot(path("a.vhs"), `${mounted}/old.img`, ONE)).rejects.toMatchObject({
    code: "ERR_TARGET",
  });
  expect(readFileSync(`${mounted}/old.img`, "utf8")).toBe("old");
  expect(readdirSync(mounted).sort()).toEqual(["new.img", "old.img"]);
});

/** Restores a snapshot in a process whose system calls fail. Returns the calls that rename and link. */
async function restoreWith(faults: readonly string[], target: string) {
  const script = `import { restoreSnapshot } from "@hedgerow/snapshot";
    await restoreSnapshot(${JSON.stringify(path("a.vhs"))}, ${JSON.stringify(target)}, ${JSON.stringify(ONE)});`;
  const inject = faults.flatMap((fault) => ["-e", `inject=${fault}`]);
  const traced = ["-f", "-qq", "-e", "trace=link,linkat,rename,renameat2", "-o", path("calls")];
  const node = [process.execPath, "--input-type=module", "-e", script];
  const child = spawn("strace", [...traced, ...inject, ...node], { cwd: import.meta.dirname });
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
  expect(readFileSync(target).equals(image)).toBe(true);
  const calls = readFileSync(path("calls"), "utf8").split("\n");
  return calls.flatMap((line) => /^\d+ +(\w+)\(.* = (-?\d+)/.exec(line)?.slice(1).join(" ") ?? []);
}

test("a file system that can rename without replacing never has an empty file of the name", async () => {
  const calls = await restoreWith(["link,linkat:error=EPERM"], path("renamed"));
  expect(calls).toEqual(["link -1", "renameat2 0"]);
});

test("a file system that can only replace has an empty file of the name first", async () => {
  const faults = ["link,linkat:error=EOPNOTSUPP", "renameat2:error=EINVAL"];
  expect(await restoreWith(faults, path("reserved"))).toEqual([
    ...["link -1", "renameat2 -1", "rename 0"],
  ]);
});
