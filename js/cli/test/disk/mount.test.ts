/** File systems of snapshots that the command mounts, and what it leaves when it ends. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test, vi } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { ended, hedgerow, start } from "../support/bin.js";
import { expectUnmounted, mounts, processesOf, started } from "../support/disk.js";
import { makeTree } from "../support/tree.js";
import { changeImage, run } from "../support/trees.js";

/** The program that makes each file system, and the smallest size that it accepts, in MiB. */
const FILE_SYSTEMS = [
  ["ext4", ["mke2fs", "-q", "-t", "ext4"], 16],
  ["xfs", ["mkfs.xfs", "-q"], 300],
  ["btrfs", ["mkfs.btrfs", "-q"], 128],
] as const;

type FileSystem = readonly [name: string, program: readonly [string, ...string[]], size: number];

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

// `npm test` tries ext4, and `npm run verify` all of them.
test.each<FileSystem>(FILE_SYSTEMS.slice(0, trials({ few: 1, all: 3 })))(
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

const original = temporaryFolder();
const fileSystemFile = original("files.vhs");

beforeAll(async () => {
  mkdirSync(original("files"));
  writeFileSync(original("files", "hello.txt"), "hello\n");
  const image = original("files.img");
  run("mke2fs", "-q", "-t", "ext4", "-d", original("files"), image, "16M");
  await createSnapshot(image, fileSystemFile, { workers: 1 });
});

/** Copies the snapshot of an ext4 file system with a file to a folder of its own. */
function fileSystem() {
  const root = makeTree();
  const [file, directory] = ["disk.vhs", "mounted"].map((name) => join(root, name)) as [
    string,
    string,
  ];
  copyFileSync(fileSystemFile, file);
  for (const name of [directory, join(root, "tmp")]) mkdirSync(name);
  return { root, file, directory, env: { TMPDIR: join(root, "tmp") } };
}

test("mounts a file system, read-only, until SIGTERM", async () => {
  const { root, file, directory, env } = fileSystem();
  const args = ["mount", file, directory];
  const { out, stop } = await started(args, env);
  expect(out).toBe(`${directory}\n`);
  expect(readFileSync(join(directory, "hello.txt"), "utf8")).toBe("hello\n");
  expect(() => writeFileSync(join(directory, "new"), "")).toThrow("EROFS");
  expect(await stop("SIGTERM")).toEqual({ code: "SIGTERM", out: `${directory}\n`, err: "" });
  expectUnmounted(root);
});

test("ends if nbdfuse is killed, and leaves nothing behind", async () => {
  const { root, file, directory, env } = fileSystem();
  const args = ["mount", file, directory];
  const { child } = await started(args, env);
  const end = ended(child);
  const [nbdfuse, ...others] = processesOf(root);
  expect(others).toEqual([]);
  process.kill(nbdfuse!, "SIGKILL");
  expect(await end).toMatchObject({ code: 3, err: "hedgerow: nbdfuse ended with SIGKILL\n" });
  expectUnmounted(root);
});

test("keeps what was written with --read-write", async () => {
  const { root, file, directory, env } = fileSystem();
  const args = ["mount", file, directory, "--image", join(root, "local.img")];
  const first = await started([...args, "--read-write"], env);
  writeFileSync(join(directory, "new.txt"), "new\n");
  expect((await first.stop("SIGINT")).code).toBe("SIGINT");
  expectUnmounted(root);
  const second = await started([...args, "--json"], env);
  expect(JSON.parse(second.out)).toMatchObject({ path: directory, size: 16 * 2 ** 20 });
  expect(readFileSync(join(directory, "new.txt"), "utf8")).toBe("new\n");
  expect((await second.stop("SIGTERM")).code).toBe("SIGTERM");
  expectUnmounted(root);
});

test("loses nothing if another mount namespace keeps the file system", async () => {
  const { root, file, directory, env } = fileSystem();
  const args = ["mount", file, directory, "--image", join(root, "local.img"), "--read-write"];
  const first = await started(args, env);
  writeFileSync(join(directory, "new.txt"), "new\n");
  // It begins with all mounts, and keeps them.
  const other = spawn("unshare", ["--mount", "sh", "-c", "echo; exec sleep 60"]);
  try {
    await once(other.stdout, "data");
    const end = first.stop("SIGTERM");
    await vi.waitFor(() => expect(mounts()).not.toContain(directory), 10_000);
    // It serves the other namespace, and would be killed later.
    process.kill(processesOf(root)[0]!, "SIGKILL");
    expect(await end).toMatchObject({ code: "SIGTERM", err: "" });
  } finally {
    other.kill();
    await once(other, "exit");
  }
  expectUnmounted(root);
  const second = await started(args, env);
  expect(readFileSync(join(directory, "new.txt"), "utf8")).toBe("new\n");
  await second.stop("SIGTERM");
});

/** How many changes age a file system. */
const STEPS = trials({ few: 60, all: 400 });

/** Ages a file system: creates, extends, shortens and removes files in turn, also in `files`, which has their content. */
function age(directory: string, files: Map<string, Buffer>, seed: number): void {
  const random = seededRandom(seed);
  for (let step = 0; step < STEPS; step += 1) {
    const name = `file-${Math.floor(random() * 60)}`;
    const known = files.get(name) ?? Buffer.alloc(0);
    const kind = random();
    if (kind < 0.25) {
      rmSync(join(directory, name), { force: true });
      files.delete(name);
      continue;
    }
    const added = noise(`${seed} ${step}`, Math.ceil(random() * 100_000));
    const kept = known.subarray(0, kind < 0.5 ? known.length : Math.floor(known.length / 3));
    files.set(name, Buffer.concat([kept, added]));
    writeFileSync(join(directory, name), files.get(name)!);
  }
}

test("an aged file system ages on as a disk, and is intact when it was saved and restored", async () => {
  const { root, directory, env } = fileSystem();
  const [image, file, delta, restored, local, socket] = [
    ...["aged.img", "aged.vhs", "delta.vhs", "restored.img", "local.img", "socket"],
  ].map((name) => join(root, name)) as [string, string, string, string, string, string];
  execFileSync("mke2fs", ["-q", "-t", "ext4", image, "16M"]);
  const mount = ["mount", file, directory, "--image", local, "--read-write", "--fill", "none"];
  const files = new Map<string, Buffer>();
  await changeImage(image, directory, () => age(directory, files, 1));
  await createSnapshot(image, file, { pieceSize: 2 ** 16 });

  const mounted = await started(mount, env);
  age(directory, files, 2);
  expect((await mounted.stop("SIGTERM")).err).toBe("");
  const opened = ["open", file, "--image", local, "--socket", socket, "--save", delta];
  const served = await started(opened);
  expect((await served.stop("SIGTERM")).err).toBe("");
  await restoreSnapshot(delta, restored);
  execFileSync("e2fsck", ["-f", "-n", restored]);
  execFileSync("mount", ["-o", "loop,ro", restored, directory]);
  try {
    const found = readdirSync(directory).filter((name) => name.startsWith("file-"));
    expect(found.sort()).toEqual([...files.keys()].sort());
    for (const [name, bytes] of files) expectSame(readFileSync(join(directory, name)), bytes);
  } finally {
    execFileSync("umount", [directory]);
  }
});

/** Returns an image of 4 MiB with a partition table: one partition of 1 MiB at 1 MiB, and one of 2 MiB after it. */
function partitioned(kind: "MBR" | "GPT"): Buffer {
  const image = Buffer.alloc(4 * 2 ** 20);
  image.writeUInt16LE(0xaa55, 510);
  for (const [index, first, sectors] of [
    [0, 2048, 2048],
    [1, 4096, 4096],
  ] as const) {
    const entry = image.subarray(446 + 16 * index);
    entry[4] = kind === "MBR" ? 0x83 : 0xee;
    entry.writeUInt32LE(first, 8);
    entry.writeUInt32LE(sectors, 12);
    if (kind === "MBR") continue;
    image.write("EFI PART", 512);
    image.writeBigUInt64LE(2n, 512 + 72);
    image.writeUInt32LE(128, 512 + 80);
    image.writeUInt32LE(128, 512 + 84);
    const guid = image.subarray(1024 + 128 * index).fill(7, 0, 16);
    guid.writeBigUInt64LE(BigInt(first), 32);
    guid.writeBigUInt64LE(BigInt(first + sectors - 1), 40);
  }
  return image;
}

test.each(["MBR", "GPT"] as const)(
  "mounts a partition of a disk with an %s, and lists them if none is named",
  async (kind) => {
    const { root, directory, env } = fileSystem();
    const path = (name: string) => join(root, name);
    const disk = partitioned(kind);
    const args = ["-q", "-t", "ext2", "-d", original("files"), path("part.img"), "1M"];
    run("mke2fs", ...args);
    readFileSync(path("part.img")).copy(disk, 2048 * 512);
    writeFileSync(path("disk.img"), disk);
    const file = path("partitioned.vhs");
    await createSnapshot(path("disk.img"), file);
    const mount = ["disk", "mount", file, directory];
    const { code, err } = await ended(start(mount, env));
    const list = "1 of 1.05 MB, 2 of 2.1 MB";
    expect({ code, err }).toEqual({
      code: 3,
      err: `hedgerow: cannot mount: the disk has partitions; pass --partition with ${list}\n`,
    });
    expectUnmounted(root);
    const missing = await ended(start([...mount, "--partition", "3"], env));
    expect(missing).toMatchObject({
      code: 2,
      err: `hedgerow: --partition: expected ${list}, found 3\n`,
    });
    expectUnmounted(root);
    const { stop } = await started([...mount.slice(1), "--partition", "1"], env);
    expect(readFileSync(join(directory, "hello.txt"), "utf8")).toBe("hello\n");
    await stop("SIGTERM");
    expectUnmounted(root);
  },
);

/** A program `losetup` that cannot detach a device at the first attempt. */
const BUSY_LOSETUP = `#!/bin/sh
if [ "$1" = --detach ] && mkdir "$0.busy" 2> /dev/null; then echo busy >&2; exit 1; fi
PATH=\${PATH#*:} && exec losetup "$@"
`;

test("leaves nothing behind if it cannot mount, and says why", async () => {
  const { root, file, directory, env } = fileSystem();
  const noFileSystem = join(root, "zeros.vhs");
  writeFileSync(join(root, "zeros.img"), Buffer.alloc(2 ** 20));
  await createSnapshot(join(root, "zeros.img"), noFileSystem, { workers: 1 });
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "bin", "losetup"), BUSY_LOSETUP, { mode: 0o755 });
  const PATH = `${join(root, "bin")}:${process.env.PATH}`;
  for (const [args, message, variables] of [
    [[noFileSystem, directory], "cannot mount at", {}],
    [[file, directory], `cannot mount at ${directory}: busy`, { PATH }],
    [[file, file], "expected a directory to mount at", {}],
    [[file, directory], "the program nbdfuse is missing", { PATH: "/nonexistent" }],
  ] as const) {
    const end = await ended(start(["disk", "mount", ...args], { ...env, ...variables }));
    expect(end).toMatchObject({ code: 3, out: "" });
    expect(end.err).toMatch(/^hedgerow: [^\n]*\n$/);
    expect(end.err).toContain(message);
    expectUnmounted(root);
  }
});

test.for([
  [["a"], "missing required argument 'directory'"],
  [["a", "b", "--read-write"], "--read-write: expected --image too"],
] as const)("refuses the command line %j", async ([args, message]) => {
  const { code, out, err } = await hedgerow(["disk", "mount", ...args]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err.trimEnd().split("\n").at(-1)).toContain(message);
});
