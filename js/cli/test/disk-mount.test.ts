/** Mounts of file systems that were in use when they were saved, and of several snapshots of one. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createSnapshot } from "@hedgerow/snapshot";
import { expect, test, vi } from "vitest";

import { expectSame } from "../../../tests/support/snapshots/image.js";
import { expectUnmounted, started } from "./support/disk.js";
import { makeTree } from "./support/tree.js";

/** The program that makes each file system, and the smallest size that it accepts, in MiB. */
const FILE_SYSTEMS = [
  ["ext4", ["mke2fs", "-q", "-t", "ext4"], 16],
  ["xfs", ["mkfs.xfs", "-q"], 300],
  ["btrfs", ["mkfs.btrfs", "-q"], 128],
] as const;

type FileSystem = readonly [name: string, program: readonly [string, ...string[]], size: number];

/** Runs a program. Its output is in the error if it fails. */
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { stdio: ["ignore", "pipe", "pipe"] });

/** Writes a file so that the journal has it, and the file system itself need not. */
function writeDurably(path: string, text: string): void {
  writeFileSync(path, text);
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

/** Makes two images of a file system while it is mounted, one file after the other, and their snapshots. */
async function savedInUse([, [program, ...args], size]: FileSystem) {
  const root = makeTree();
  const [image, one, other, directory, second] = ["image", "one", "other", "mounted", "2nd"].map(
    (name) => join(root, name),
  ) as [string, string, string, string, string];
  for (const folder of [directory, second, join(root, "tmp")]) mkdirSync(folder);
  writeFileSync(image, "");
  truncateSync(image, size * 2 ** 20);
  run(program, ...args, image);
  run("mount", "-o", "loop", image, directory);
  try {
    for (const copy of [one, other]) {
      writeDurably(join(directory, `${copy === one ? "one" : "other"}.txt`), "saved\n");
      run("cp", "--sparse=always", image, copy);
    }
  } finally {
    run("umount", directory);
  }
  for (const copy of [one, other])
    await createSnapshot(copy, `${copy}.vhs`, { pieceSize: 2 ** 16, workers: 1 });
  return { root, one, other, directory, second, env: { TMPDIR: join(root, "tmp") } };
}

test.each<FileSystem>(FILE_SYSTEMS)(
  "mounts the snapshots of an %s that was in use, two at a time",
  async (...made) => {
    const { root, one, other, directory, second, env } = await savedInUse(made);
    // Without the replay of its journal, it cannot be mounted.
    expect(() => run("mount", "-o", "loop,ro", one, directory)).toThrow();
    const first = await started(["mount", `${one}.vhs`, directory, "--fill", "none"], env);
    const both = await started(["mount", `${other}.vhs`, second, "--fill", "none"], env);
    expect(readFileSync(join(directory, "one.txt"), "utf8")).toBe("saved\n");
    expect(existsSync(join(directory, "other.txt"))).toBe(false);
    expect(readFileSync(join(second, "other.txt"), "utf8")).toBe("saved\n");
    expect(() => writeFileSync(join(second, "new"), "")).toThrow("EROFS");
    for (const { stop } of [both, first]) expect((await stop("SIGTERM")).err).toBe("");
    expectUnmounted(root);
  },
);

test("keeps an image as it was saved, unless it is mounted for writing", async () => {
  const { root, one, directory, env } = await savedInUse(FILE_SYSTEMS[0]);
  const local = join(root, "local.img");
  const mount = ["mount", `${one}.vhs`, directory, "--image", local];
  const mountOnce = async (...access: string[]) => {
    const { stop } = await started([...mount, ...access], env);
    expect(readFileSync(join(directory, "one.txt"), "utf8")).toBe("saved\n");
    await vi.waitUntil(() => existsSync(local), 20_000);
    expect((await stop("SIGTERM")).err).toBe("");
    expectUnmounted(root);
  };
  await mountOnce();
  expectSame(readFileSync(local), readFileSync(one));
  await mountOnce("--read-write");
  expect(readFileSync(local).equals(readFileSync(one))).toBe(false);
  run("e2fsck", "-f", "-n", local);
});
