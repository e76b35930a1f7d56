/** The readers in Lua and Python read no more of a file than its first line allows. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FUSE, PATHMAP } from "../cases/paths/files.js";

/** Each reader, and a file that it reads. */
const READERS = {
  LuaJIT: ["luajit examples/readers/path-filter.lua", PATHMAP],
  Python: ["python3 examples/readers/path_filter.py", PATHMAP],
  "LuaJIT of fuse filters": ["luajit examples/readers/fuse-filter.lua", FUSE],
  "Python of fuse filters": ["python3 examples/readers/fuse_filter.py", FUSE],
} as const;

/** Limit of a reader's address space, in KiB: a quarter of the file. */
const MEMORY = 2 ** 18;

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hedgerow-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Looks a path up with a reader that has little memory. */
function ask(reader: string, file: string) {
  const script = `ulimit -v ${MEMORY} && exec ${reader} "$0"`;
  const given = { cwd: root, input: "/foo\n", encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", script, file], given);
  return { status, stdout, stderr };
}

describe.each(Object.entries(READERS))("the reader %s", (_, [reader, content]) => {
  test("reads a small filter in little memory", () => {
    const file = join(folder, "small.filter");
    for (const end of ["", "\n", "\r\n"]) {
      writeFileSync(file, content + end);
      expect(ask(reader, file)).toEqual({ status: 0, stdout: "1\n", stderr: "" });
    }
  });

  test("refuses a sparse file of 1 GiB without reading it into memory", () => {
    const file = join(folder, "sparse.filter");
    for (const start of ["", "{}\n", content.slice(0, -1), content]) {
      writeFileSync(file, start);
      truncateSync(file, 2 ** 30);
      const { status, stderr } = ask(reader, file);
      expect(status).toBe(2);
      expect(stderr).not.toMatch(/memory/i);
    }
  });
});
