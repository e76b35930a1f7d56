/** The command itself: its version, its errors, limits of the system, and the help and man page of every command. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Command } from "commander";
import { describe, expect, test } from "vitest";

import { EXAMPLES, OVERVIEW } from "../src/examples.js";
import { program } from "../src/program.js";
import { BIN, ended, hedgerow, hedgerowProcess } from "./support/bin.js";
import { makeTree } from "./support/tree.js";

const MAN = fileURLToPath(new URL("../dist/man", import.meta.url));

/** Returns a command and all below it, with the words that name them. */
function commandsOf(command: Command, path: readonly string[] = []): [string, Command][] {
  const below = command.commands.flatMap((one) => commandsOf(one, [...path, one.name()]));
  return [[path.join(" "), command], ...below];
}

const commands = commandsOf(await program());

/** Parses a command line, and returns the command that it would run. */
async function parsed(line: string): Promise<string> {
  const root = await program();
  let found = "";
  for (const [path, command] of commandsOf(root)) {
    if (command.commands.length > 0) continue;
    command.action(() => {
      found = path;
    });
  }
  await root.parseAsync(line.split(" "), { from: "user" });
  return found;
}

test("hedgerow without arguments prints the commands that are used most", async () => {
  expect(await hedgerow([])).toEqual({ code: 0, out: OVERVIEW, err: "" });
  const lines = [...OVERVIEW.matchAll(/^ {4}hedgerow (.+)$/gm)].map(([, line = ""]) => line);
  expect(lines).toHaveLength(4);
  for (const line of lines) expect(`${line} `).toContain(`${await parsed(line)} `);
});

test("there are examples of every command, and of nothing else", () => {
  expect(Object.keys(EXAMPLES)).toEqual(commands.map(([path]) => path));
});

describe.each(commands.map(([path]) => [path]))("hedgerow %s", (path) => {
  test("ends its help with an example", async () => {
    const { code, out, err } = await hedgerow([...path.split(" "), "--help"].filter(Boolean));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trimEnd().split("\n").at(-1)).toBe(`  hedgerow ${EXAMPLES[path]?.at(-1)}`);
  });

  test("has examples that it accepts", async () => {
    for (const example of EXAMPLES[path] ?? []) {
      const [line = ""] = example.split(" > ");
      const found = await parsed(line);
      expect(line).toMatch(new RegExp(`^${found}( |$)`));
      expect(found.startsWith(path)).toBe(true);
    }
  });
});

describe("man pages", () => {
  test("there is one of every command", () => {
    const names = commands.map(
      ([path]) => `${["hedgerow", path].join(" ").trim().replaceAll(" ", "-")}.1`,
    );
    expect(readdirSync(MAN).sort()).toEqual(names.sort());
    const { man } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect([...man].sort()).toEqual(names.map((name) => `./dist/man/${name}`));
  });

  test("have sections with titles, not sentences", () => {
    const titles = readdirSync(MAN).flatMap((name) => {
      const page = readFileSync(join(MAN, name), "utf8");
      return [...page.matchAll(/^\.SH "(.+)"$/gm)].map(([, title = ""]) => title);
    });
    expect([...new Set(titles)].sort()).toEqual([
      ...["A FILE OF HOSTS", "ARGUMENTS", "COMMANDS", "EXAMPLES", "EXIT CODES"],
      ...["FINDINGS", "NAME", "NOTES", "OPTIONS", "SEE ALSO", "SOURCES", "SYNOPSIS"],
      "WHERE SHELLS LOOK FOR THE SCRIPT",
    ]);
  });

  test("mandoc finds nothing wrong in them", () => {
    const pages = readdirSync(MAN).map((name) => join(MAN, name));
    const args = ["-T", "lint", "-W", "warning", ...pages];
    const { stdout } = spawnSync("mandoc", args, { encoding: "utf8" });
    // Builds are reproducible, so pages have no date.
    const lines = stdout.split("\n").filter((line) => !line.includes("missing date"));
    expect(lines).toEqual([""]);
  });

  test("man shows one with its options and examples", () => {
    const file = join(MAN, "hedgerow-paths-build.1");
    const page = execFileSync("sh", ["-c", 'mandoc -T utf8 -O width=120 "$0" | col -b', file], {
      encoding: "utf8",
    });
    for (const text of [
      "hedgerow-paths-build - build a filter of the paths that a deployment answers",
      "hedgerow paths build [options] <source...>",
      "-p, --false-positive-rate <rate>",
      "SOURCES",
      "EXIT CODES",
      "hedgerow paths build .vercel/output -o paths.filter",
    ]) {
      expect(page).toContain(text);
    }
    expect(readFileSync(join(MAN, "hedgerow.1"), "utf8")).toContain(".BR hedgerow\\-paths (1)");
  });
});

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
