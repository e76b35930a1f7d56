/** The help of every command, its examples, and its man page. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Command } from "commander";
import { describe, expect, test } from "vitest";

import { EXAMPLES, OVERVIEW } from "../src/examples.js";
import { program } from "../src/program.js";
import { hedgerow } from "./support/bin.js";

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
