/** What the command leaves when it is ended. */
import { chownSync, existsSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";

import { noise } from "../../../../tests/support/snapshots/image.js";
import { openWorkspace } from "../../src/image/workspace.js";
import { BIN, ended, hedgerow, hedgerowProcess, start } from "../support/bin.js";
import { tarOf } from "../support/layers.js";
import { makeTree } from "../support/tree.js";
import { run } from "../support/trees.js";

const isPrivate = (name: string) => name.startsWith(".hedgerow-image-");

/** Starts the command with a skopeo that fetches for ever. */
async function startEndless() {
  const root = makeTree({ "out/": "", "bin/": "" });
  // It ends with the process that started it.
  const skopeo = join(root, "bin", "skopeo");
  run(
    "sh",
    "-c",
    `printf '#!/bin/sh\\nwhile kill -0 $PPID; do sleep 0.1; done\\n' > ${skopeo}; chmod +x ${skopeo}`,
  );
  const path = { PATH: `${join(root, "bin")}:${process.env.PATH}` };
  const out = join(root, "out");
  const child = start(["image", "create", "docker://x/y", join(out, "image")], path);
  // A folder without its socket is that of a process which has just begun.
  const isHeld = (name: string) => isPrivate(name) && existsSync(join(out, name, "alive"));
  await vi.waitUntil(() => readdirSync(out).some(isHeld), { timeout: 50_000 });
  return { out, child };
}

test.each(["SIGINT", "SIGTERM"] as const)("%s leaves nothing behind", async (signal) => {
  const { out, child } = await startEndless();
  const end = ended(child);
  child.kill(signal);
  expect(await end).toMatchObject({ code: signal });
  expect(readdirSync(out)).toEqual([]);
});

test("the next run removes what a killed one left, and nothing of one that runs", async () => {
  const killed = await startEndless();
  const end = ended(killed.child);
  killed.child.kill("SIGKILL");
  await end;
  expect(readdirSync(killed.out).filter(isPrivate)).toHaveLength(1);
  await using running = await openWorkspace(killed.out);
  expect(readdirSync(killed.out).map((name) => join(killed.out, name))).toEqual([running.path]);

  const tree = makeTree({ "tree/file": "" });
  const { code } = await hedgerow([
    "image",
    "create",
    join(tree, "tree"),
    join(killed.out, "image"),
  ]);
  expect(code).toBe(0);
  expect(
    readdirSync(killed.out)
      .map((name) => join(killed.out, name))
      .sort(),
  ).toEqual([running.path, join(killed.out, "image")].sort());
});

test("a folder that was just created stays, even before its process listens", async () => {
  const root = makeTree({ ".hedgerow-image-young/": "", ".hedgerow-image-old/": "" });
  utimesSync(join(root, ".hedgerow-image-old"), 0, 0);
  mkdirSync(join(root, "other"));
  await using workspace = await openWorkspace(root);
  const names = readdirSync(root).filter((name) => join(root, name) !== workspace.path);
  expect(names.sort()).toEqual([".hedgerow-image-young", "other"]);
});

test("folders of other users stay, and links", async () => {
  const names = ["link", "other", "own"].map((name) => `.hedgerow-image-${name}`);
  const [link = "", other = "", own = ""] = names;
  const root = makeTree({
    "target/file": "",
    [link]: { link: "target" },
    [`${other}/file`]: "",
    [`${own}/file`]: "",
  });
  chownSync(join(root, other), 65_534, 65_534);
  for (const name of ["target", other, own]) utimesSync(join(root, name), 0, 0);
  await using workspace = await openWorkspace(root);
  const left = readdirSync(root).filter((name) => join(root, name) !== workspace.path);
  expect(left.sort()).toEqual([link, other, "target"]);
  expect(readdirSync(join(root, other))).toEqual(["file"]);
  expect(readdirSync(join(root, "target"))).toEqual(["file"]);
});

test("a folder with a long path works", async () => {
  const root = makeTree();
  const long = join(root, "x".repeat(200));
  mkdirSync(long);
  await using workspace = await openWorkspace(long);
  await using other = await openWorkspace(long);
  expect(readdirSync(long)).toHaveLength(2);
  expect(other.path).not.toBe(workspace.path);
});

test.each([
  ["docker://x/y", "skopeo", "skopeo"],
  ["tree", "tar", "tar"],
  ["archive.tar.zst", "zstd", "zstd"],
  ["archive.tar.xz", "xz", "xz-utils"],
])("names the package of the program that %s needs", async (source, program, package_) => {
  const root = makeTree({ "tree/file": "" });
  const archive = join(root, "archive.tar");
  run("sh", "-c", `cd ${root}; tar -cf ${archive} tree; zstd -q -k ${archive}; xz -k ${archive}`);
  const place = source.startsWith("docker") ? source : join(root, source);
  const args = ["image", "create", place, join(root, "image")];
  const { code, err } = await hedgerow(args, "", { PATH: "/nowhere" });
  const doing = source.startsWith("docker") ? "fetch" : "read";
  expect({ code, err }).toEqual({
    code: 3,
    err: `hedgerow: cannot ${doing} ${place}: the program ${program} is missing; on Debian, install the package ${package_}\n`,
  });
});

test("refuses a file that is no archive", async () => {
  const root = makeTree({ "disk.qcow2": "QFI\u00fb", "empty.tar": tarOf([]).subarray(0, 0) });
  for (const name of ["disk.qcow2", "empty.tar"]) {
    const args = ["image", "create", join(root, name), join(root, "image")];
    const { code, err } = await hedgerow(args);
    expect(code).toBe(3);
    expect(err).toContain("expected a folder, a tar archive or an image");
  }
});

test("refuses a pipe and a device, which are read once or without end", async () => {
  const root = makeTree({ "archive.tar": tarOf([{ path: "etc/hosts" }]) });
  const command = 'cat "$1" | "$2" "$3" image create /dev/stdin "$4" --free 0';
  const args = [join(root, "archive.tar"), process.execPath, BIN, join(root, "image")];
  expect(() => run("sh", "-c", command, "sh", ...args)).toThrow("expected a folder, a tar archive");
  const { code, err } = await hedgerow(["image", "create", "/dev/zero", join(root, "image")]);
  expect(code).toBe(3);
  expect(err).toContain("expected a folder, a tar archive");
  expect(existsSync(join(root, "image"))).toBe(false);
});

test.each([
  ["an image", "etc/hosts", "zstd", 0],
  ["an image", "etc/hosts", "xz", 0],
  ["a refused layer", "..", "zstd", 3],
  ["a refused layer", "..", "xz", 3],
])("ends after %s of a large archive: %s with %s", async (_what, path, program, code) => {
  const root = makeTree({
    "archive.tar": tarOf([{ path }, { path: "large", content: noise("large", 2 ** 22) }]),
  });
  run(program, "-1", join(root, "archive.tar"));
  const source = join(root, `archive.tar.${program === "xz" ? "xz" : "zst"}`);
  const args = ["image", "create", source, join(root, "image"), "--free", "0"];
  expect(await hedgerowProcess(args)).toMatchObject({ code });
});
