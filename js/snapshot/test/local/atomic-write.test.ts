/** The order in which files are written: what a power failure must find on the disk. */
import { existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { writeAtomically } from "../../src/local/atomic-write.js";

const path = temporaryFolder();

/** Writes a file. Returns each path that was flushed, and whether the file had its name at that time. */
async function flushedBy(target: string, options: Parameters<typeof writeAtomically>[1]) {
  const folder = await open(path());
  const handles: FileHandle = Object.getPrototypeOf(folder);
  await folder.close();
  const { sync: flush } = handles;
  const flushed: [kind: string, isThere: boolean][] = [];
  const spy = vi.spyOn(handles, "sync").mockImplementation(async function (this: FileHandle) {
    const kind = (await this.stat()).isDirectory() ? "folder" : "file";
    flushed.push([kind, existsSync(target)]);
    await flush.call(this);
  });
  await writeAtomically(target, options, (file) => file.writeFile("content"));
  spy.mockRestore();
  return flushed;
}

test.each([true, false])(
  "flushes a file before it gets its name, and then the folder with the name (overwrite: %s)",
  async (overwrite) => {
    const flushed = await flushedBy(path(`durable-${overwrite}`), { overwrite });
    expect(flushed).toEqual([
      ["file", false],
      ["folder", true],
    ]);
  },
);

test("flushes nothing of a file that need not be durable", async () => {
  expect(await flushedBy(path("fast"), { isDurable: false })).toEqual([]);
});

test.each([
  ["EIO", true],
  ["ENOSPC", true],
  ["EINVAL", false],
])("if a folder cannot be flushed because of %s, that is an error: %s", async (code, isError) => {
  const folder = await open(path());
  const handles: FileHandle = Object.getPrototypeOf(folder);
  await folder.close();
  const { sync } = handles;
  const spy = vi.spyOn(handles, "sync").mockImplementation(async function (this: FileHandle) {
    const cause = Object.assign(new Error(code), { code, syscall: "fsync" });
    if ((await this.stat()).isDirectory()) throw cause;
    await sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  const writing = writeAtomically(path("kept"), {}, (file) => file.writeFile("content"));
  if (isError) await expect(writing).rejects.toMatchObject({ code: "ERR_TARGET" });
  else await writing;
});
