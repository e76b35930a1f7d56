/** Programs that read snapshots with zstd refuse deltas, and return no bytes. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";

import { inRoot } from "../../../../scripts/lib/paths.mjs";
import { pythonEnv } from "../../../../scripts/lib/python.mjs";
import { oldZstd } from "../../../../scripts/lib/set-up-tests.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { forgeDelta, makeChain } from "../support/deltas.js";

const path = temporaryFolder();

/** Deltas: with frames of their own, and without. */
const DELTAS = ["a.vhs", "first.vhs", "unchanged.vhs", "empty.vhs"];

beforeAll(async () => {
  const { files } = await makeChain(path);
  const { length } = files["base.vhs"];
  const frame = {
    object: 1,
    fileOffset: 32,
    rawLength: 2 ** 16,
    bytes: files["base.vhs"].subarray(32, 65_000),
  };
  const objects = [{ reference: "base.vhs", size: length }];
  writeFileSync(path("unchanged.vhs"), forgeDelta({ objects, frames: [frame] }));
  writeFileSync(path("empty.vhs"), forgeDelta({ objects: [], frames: [] }));
});

test.each(DELTAS)("zstd refuses %s, and writes nothing", (name) => {
  const target = path(`${name}.out`);
  for (const options of [["-dc"], ["-dcf"], ["-t"], ["-d", "-o", target], ["-dc", "--no-check"]]) {
    const { status, stdout, stderr } = spawnSync("zstd", ["-q", ...options, path(name)]);
    expect(status, options.join(" ")).not.toBe(0);
    expect(stdout).toHaveLength(0);
    expect(stderr.toString()).toMatch(/Unsupported frame parameter/);
  }
  expect(existsSync(target)).toBe(false);
});

test.each(DELTAS)("zstd refuses %s from a pipe", (name) => {
  const { status, stdout } = spawnSync("zstd", ["-q", "-dc"], { input: readFileSync(path(name)) });
  expect(status).not.toBe(0);
  expect(stdout).toHaveLength(0);
});

/** Decompresses a file with zstd 1.4. */
const readByOldZstd = (name: string) =>
  spawnSync(inRoot(oldZstd), { input: readFileSync(path(name)), maxBuffer: 2 ** 24 });

test.each(DELTAS)("zstd 1.4 refuses %s, and writes nothing", (name) => {
  const { status, stdout, stderr } = readByOldZstd(name);
  expect(status).toBe(1);
  expect(stdout).toHaveLength(0);
  expect(stderr.toString()).toMatch(/unsupported frame parameter/i);
});

test("zstd 1.4 reads the snapshot that a delta is of", () => {
  expect(readByOldZstd("base.vhs")).toMatchObject({ status: 0 });
  expect(readByOldZstd("base.vhs").stdout).toHaveLength(3.5 * 2 ** 20 + 17);
});

/** Reads a file by each of several readers of pyzstd. */
function readByPyzstd(name: string): unknown[] {
  const script = fileURLToPath(new URL("../support/read-whole.py", import.meta.url));
  const env = { ...process.env, ...pythonEnv() };
  const printed = execFileSync("python3", [script, path(name)], { env, encoding: "utf8" });
  const lines = printed.trim().split("\n");
  return lines.map((line) => JSON.parse(line) as unknown);
}

test.each(DELTAS)("readers of pyzstd refuse %s, also those of the seekable format", (name) => {
  expect(readByPyzstd(name)).toEqual([
    { reader: "whole", bytes: 0, error: "ZstdError" },
    { reader: "stream", bytes: 0, error: "ZstdError" },
    { reader: "file_like", bytes: 0, error: "ZstdError" },
    { reader: "seekable", bytes: 0, error: expect.stringMatching(/Error/) },
  ]);
});

test("readers of pyzstd read the snapshot that a delta is of", () => {
  for (const outcome of readByPyzstd("base.vhs"))
    expect(outcome).toMatchObject({ bytes: 3.5 * 2 ** 20 + 17, error: null });
});
