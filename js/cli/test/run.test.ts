/** The command itself: its version, its errors, and limits of the system that are too low. */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { BIN, ended, hedgerow, hedgerowProcess } from "./support/bin.js";
import { makeTree } from "./support/tree.js";

const { version } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { version: string };

const CREATE = ["snapshot", "create", "image", "out"];

test.each<[number, readonly string[]]>([
  // The main thread cannot instantiate a module; nor can a worker, or it cannot even start.
  [1, CREATE],
  [6, CREATE],
  [12.25, CREATE],
  [6, ["paths", "build", "paths", "--source-kind", "list", "--output", "out"]],
])("%d GB of address space are an ERR_WORKER in one line of %j", async (size, args) => {
  const root = makeTree({ paths: "/a\n/b\n" });
  writeFileSync(join(root, "image"), Buffer.alloc(2 ** 20, 1));
  const node = [process.execPath, BIN, ...args, "--json"];
  const child = spawn("prlimit", [`--as=${size * 1e9}`, ...node], { cwd: root });
  const { code, out, err } = await ended(child);
  expect([code, out]).toEqual([3, ""]);
  expect(err).toMatch(/^\{"error":\{"code":"ERR_WORKER","message":".*ulimit -v.*"\}\}\n$/);
});

describe("hedgerow", () => {
  test("is an executable that npm can link", () => {
    const { status, stdout } = spawnSync(BIN, ["--version"], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${version}\n` });
  });

  test("prints its description and version", async () => {
    expect(await hedgerow(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
    for (const args of [["--help"], ["help", "paths"], ["paths", "build", "--help"]]) {
      const { code, out, err } = await hedgerow(args);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain("Usage: hedgerow");
      expect(out).toContain("Exit codes:");
      expect(out).toMatch(/^ {2}130, 143 {2}ended by SIGINT or SIGTERM/m);
    }
  });

  test.for([
    [["paths"], "expected a command"],
    [["nothing"], "unknown command 'nothing'"],
    [["paths", "build", "-o", "x"], "missing required argument 'source'"],
    [["paths", "build", "a.txt"], "required option '-o, --output <file>' not specified"],
    [["paths", "build", "-o", "x", "--source-kind", "zip", "a"], "Allowed choices are directory"],
    [["paths", "build", "-o", "x", "-p", "2", "-"], "falsePositiveRate: expected"],
    [["paths", "build", "-o", "x", "--base-path", "a", "a"], "begins with /"],
    [["paths", "query", "file"], "missing required argument 'path'"],
    [["paths", "info", "file", "--wrong"], "unknown option '--wrong'"],
  ] as const)("refuses the command line %j", async ([args, message]) => {
    const { code, out, err } = await hedgerow(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    const last = err.trimEnd().split("\n").at(-1);
    expect(last).toMatch(/^hedgerow: /);
    expect(last).toContain(message);
  });

  test("prints errors as JSON with --json", async () => {
    const { code, out, err } = await hedgerowProcess(["paths", "info", "/missing", "--json"]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(JSON.parse(err)).toEqual({
      error: {
        code: "ENOENT",
        message: expect.stringContaining("/missing: expected a path filter: ENOENT"),
      },
    });
    expect(JSON.parse((await hedgerow(["paths", "info", "--json"])).err)).toMatchObject({
      error: { code: "ERR_USAGE" },
    });
  });
});
