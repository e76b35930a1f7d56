import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildPathFilter, PathFilter } from "hedgerow";
import { readPathFilterSync } from "hedgerow/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PATHMAP } from "../../../../tests/cases/paths/files.js";
import { FilterFile } from "../support/bundle.js";
import { memorySize } from "../support/wasm.js";

const paths = Array.from({ length: 20_000 }, (_, number) => `/archive/${number}`);
const bytes = buildPathFilter(paths);

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hedgerow-"));
  file = join(folder, "paths.filter");
  writeFileSync(file, bytes);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("readPathFilterSync reads a file by its path or its URL", () => {
  for (const name of [file, pathToFileURL(file)]) {
    const filter = readPathFilterSync(name);
    expect(filter.byteLength).toBe(bytes.length);
    expect(paths.every((path) => filter.has(path))).toBe(true);
    expect(filter.has("/archive")).toBe(false);
    filter.free();
  }
});

test("readPathFilterSync reads a pipe to its end", () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  execFileSync("sh", ["-c", `cat '${file}' > '${pipe}' 2>/dev/null & exit 0`], { stdio: "ignore" });
  const filter = readPathFilterSync(pipe);
  expect([filter.byteLength, filter.has("/archive/7")]).toEqual([bytes.length, true]);
  filter.free();
});

test("readPathFilterSync reads a growing file to its end", () => {
  for (const first of [10, 1000, 70_000]) {
    const growing = new FilterFile(first);
    growing.append(bytes.subarray(0, first));
    for (let at = first; at < bytes.length; at += 5000) {
      growing.append(bytes.subarray(at, at + 5000));
    }
    growing.parse(false);
    expect(paths.every((path) => growing.has(path))).toBe(true);
    growing.free();
  }
});

test("a filter is read from a stream that uses one buffer for all chunks", async () => {
  for (const chunk of [new Uint8Array(16), Buffer.alloc(16)]) {
    let at = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (at >= bytes.length) return controller.close();
      const part = bytes.subarray(at, at + chunk.length);
      chunk.set(part);
      at += part.length;
      controller.enqueue(chunk.subarray(0, part.length));
    };
    const stream = new ReadableStream({ pull }, { highWaterMark: 0 });
    const filter = await PathFilter.load(stream);
    expect(paths.every((path) => filter.has(path))).toBe(true);
    filter.free();
  }
});

test("readPathFilterSync reads no more of a sparse file than its first line allows", () => {
  const sparse = join(folder, "sparse.filter");
  const before = memorySize();
  for (const start of ["", PATHMAP.slice(0, -1), PATHMAP]) {
    writeFileSync(sparse, start);
    truncateSync(sparse, 2 ** 30);
    const read = () => readPathFilterSync(sparse);
    expect(read).toThrow(expect.objectContaining({ code: "ERR_FILTER_FORMAT" }));
  }
  expect(memorySize() - before).toBeLessThanOrEqual(2 ** 20);
});

test("readPathFilterSync refuses missing, invalid and truncated files, and closes them", () => {
  const part = join(folder, "part.filter");
  writeFileSync(part, bytes.subarray(0, 1000));
  readPathFilterSync(file).free();
  const before = memorySize();
  for (let round = 0; round < 200; round += 1) {
    expect(() => readPathFilterSync(join(folder, "none"))).toThrow("ENOENT");
    expect(() => readPathFilterSync(folder)).toThrow("EISDIR");
    expect(() => readPathFilterSync(part)).toThrow("characters of Base64 in line 2, or more");
  }
  expect(memorySize()).toBe(before);
});
