import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { checkWritable, writeAtomically } from "../../src/files/output.js";
import { bundleModule } from "../support/bundle.js";
import { makeTree } from "../support/tree.js";

const BYTES = Uint8Array.of(1, 2, 3);

test("creates or replaces a file and leaves nothing else", () => {
  const root = makeTree({ "old.bin": "old" });
  for (const name of ["new.bin", "old.bin"]) {
    writeAtomically(join(root, name), BYTES);
    expect([...readFileSync(join(root, name))]).toEqual([1, 2, 3]);
  }
  expect(readdirSync(root).sort()).toEqual(["new.bin", "old.bin"]);
  expect(statSync(join(root, "new.bin")).mode & 0o777).toBe(0o666 & ~process.umask());
});

test("follows a link when it writes a file", () => {
  const root = makeTree({ "real/file.bin": "old", "link.bin": { link: "real/file.bin" } });
  writeAtomically(join(root, "link.bin"), BYTES);
  expect(realpathSync(join(root, "link.bin"))).toBe(realpathSync(join(root, "real/file.bin")));
  expect([...readFileSync(join(root, "real/file.bin"))]).toEqual([1, 2, 3]);
  expect(readdirSync(join(root, "real"))).toEqual(["file.bin"]);
});

test("leaves nothing behind when writing fails", () => {
  const root = makeTree();
  const folder = join(root, "folder");
  mkdirSync(folder);
  writeFileSync(join(folder, "inside"), "");
  expect(() => writeAtomically(folder, BYTES)).toThrow(`cannot write ${folder}`);
  expect(() => writeAtomically(join(root, "missing", "file"), BYTES)).toThrow("cannot write");
  expect(readdirSync(root)).toEqual(["folder"]);
  expect(process.listenerCount("SIGINT")).toBe(0);
});

test("defers a signal until the file is whole", async () => {
  const root = makeTree();
  const module = bundleModule("files/output.ts", makeTree());
  const script = `
    import { writeAtomically } from ${JSON.stringify(module)};
    process.stdout.write("start", () => writeAtomically("file.bin", new Uint8Array(2 ** 26)));`;
  const args = ["--input-type=module", "--eval", script];
  const child = spawn(process.execPath, args, { cwd: root });
  child.stdout.once("data", () => child.kill("SIGTERM"));
  expect(await once(child, "close")).toEqual([null, "SIGTERM"]);
  const files = readdirSync(root);
  expect(files.filter((name) => name !== "file.bin")).toEqual([]);
  for (const name of files) expect(statSync(join(root, name)).size).toBe(2 ** 26);
});

test("detects an unwritable output beforehand", () => {
  const root = makeTree({ "file.bin": "" });
  expect(() => checkWritable(join(root, "file.bin"))).not.toThrow();
  expect(() => checkWritable(join(root, "new.bin"))).not.toThrow();
  expect(() => checkWritable(root)).toThrow("expected a file or nothing, found a directory");
  expect(() => checkWritable("/dev/null")).toThrow("expected a file or nothing, found a device");
  expect(() => checkWritable(join(root, "missing", "a"))).toThrow("expected a directory at");
  expect(() => checkWritable(join(root, "file.bin", "a"))).toThrow("cannot write");
});
