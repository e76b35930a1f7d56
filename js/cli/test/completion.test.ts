/** The scripts of `hedgerow completion`, in the shells that they are for. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { beforeAll, describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { hedgerow } from "./support/bin.js";

const ZSH = fileURLToPath(new URL("support/complete.zsh", import.meta.url));

/** What a shell completes at the end of a line. */
type Complete = (script: string, line: string, cwd: string) => string;

const run = (program: string, args: readonly string[], cwd: string) =>
  execFileSync(program, args, { cwd, encoding: "utf8" });

/** Readline inserts all completions into the line, whose function then prints its arguments. */
function completeInBash(script: string, line: string, cwd: string): string {
  const input = `source ${script}; hedgerow() { printf '<%s>\\n' "$@"; }; bind '"\\t": insert-completions'\n${line}\t\nexit\n`;
  // Without its prompt and the echo of the input, which it prints on standard error.
  const output = execFileSync("bash", ["--norc", "--noprofile", "-i"], {
    ...{ cwd, input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] },
  });
  const typed = line.split(" ").length - 1;
  const given = [...output.matchAll(/^<(.*)>$/gm)].map(([, word = ""]) => word);
  return given.slice(typed - 1).join("\n");
}

const SHELLS: Readonly<Record<string, Complete>> = {
  bash: completeInBash,
  zsh: (script, line, cwd) => run("zsh", ["-f", ZSH, script, line], cwd),
  fish: (script, line, cwd) => {
    const code = 'source $argv[1]; complete --do-complete "$argv[2]"';
    return run("fish", ["--no-config", "-c", code, script, line], cwd);
  },
};

describe.each(Object.entries(SHELLS))("%s", (shell, complete) => {
  const path = temporaryFolder();
  const [folder, script] = [path("folder"), path("script")];

  /** Returns the completions of a line, without descriptions. */
  const completionsOf = (line: string) => {
    const lines = complete(script, line, folder).trim().split("\n");
    return new Set(lines.map((one) => one.split("\t")[0]!.trim()));
  };

  beforeAll(async () => {
    const { code, out, err } = await hedgerow(["completion", shell]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    writeFileSync(script, out);
    mkdirSync(folder);
    for (const name of ["a disk.vhs", "disk.img"]) writeFileSync(join(folder, name), "");
  });

  test("completes groups", () => {
    const found = completionsOf("hedgerow ");
    for (const name of ["paths", "headers", "snapshot", "disk", "cache", "fleet", "completion"]) {
      expect(found).toContain(name);
    }
    expect(found).not.toContain("disk.img");
  });

  test("completes commands, of their group alone", () => {
    expect([...completionsOf("hedgerow paths ")].sort()).toEqual(
      ["build", "help", "info", "merge", "query"].sort(),
    );
    expect([...completionsOf("hedgerow paths b")]).toEqual(["build"]);
  });

  test("completes options", () => {
    const found = completionsOf("hedgerow paths build --k");
    expect([...found].map((one) => one.replace(/=$/, ""))).toEqual(["--kind"]);
  });

  test.each(["hedgerow paths build --kind ", "hedgerow paths build dist --kind="])(
    "completes values after %s",
    (line) => {
      const found = [...completionsOf(line)].map((one) => one.replace("--kind=", ""));
      expect(found.sort()).toEqual(["bloom", "fuse"]);
    },
  );

  test.each(["hedgerow snapshot info ", "hedgerow disk open disk.vhs --image "])(
    "completes names of files after %s",
    (line) => {
      const found = [...completionsOf(line)].map((one) => one.replaceAll("\\", ""));
      expect(found).toEqual(expect.arrayContaining(["a disk.vhs", "disk.img"]));
    },
  );

  test("completes an option that is repeatable again", () => {
    const found = completionsOf("hedgerow headers check x --without a --w");
    expect([...found].map((one) => one.replace(/=$/, ""))).toEqual(["--without"]);
  });

  test("completes names of files, and no options, after --", () => {
    expect(completionsOf("hedgerow snapshot info -- disk")).toContain("disk.img");
    const options = [...completionsOf("hedgerow snapshot info -- -")];
    expect(options.filter((one) => one.startsWith("--"))).toEqual([]);
  });

  test("completes nothing for a number", () => {
    expect([...completionsOf("hedgerow paths build --capacity ")]).toEqual([""]);
  });

  test("completes the arguments of completion", () => {
    expect([...completionsOf("hedgerow completion ")].sort()).toEqual(["bash", "fish", "zsh"]);
  });
});

test("refuses a shell that it does not know", async () => {
  const { code, err } = await hedgerow(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(err).toContain("Allowed choices are bash, zsh, fish");
});
