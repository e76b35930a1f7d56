import type { Command } from "commander";
import { canExist, normalizePath } from "hedgerow";
import { readPathFilterSync } from "hedgerow/node";

import { EXIT } from "../error.js";
import { linesOf } from "../files/lines.js";
import { jsonOf, shown } from "../one-line.js";
import { print } from "../print.js";
import { pathOf } from "./path-text.js";
import { STDIN } from "./sources/list.js";

interface QueryOptions {
  readonly exact: boolean;
  readonly json: boolean;
}

/** What is printed at once. */
const CHARACTERS_A_WRITE = 1 << 16;

/** Adds `hedgerow paths query`. */
export function addQueryCommand(paths: Command): void {
  paths
    .command("query")
    .description("ask a filter whether paths can exist")
    .argument("<file>", "the filter")
    .argument("<path...>", "paths or URLs; - reads them from standard input, one a line")
    .option("--exact", "ask for the text as it is: not normalised, and without wildcards", false)
    .option("--json", "print a JSON object a line", false)
    .addHelpText("after", "\nPresent means that a path may exist, absent that it does not.")
    .action(query);
}

async function query(file: string, paths: string[], { exact, json }: QueryOptions): Promise<void> {
  const filter = readPathFilterSync(file);
  let isAnyAbsent = false;
  let lines = "";
  for await (const path of asked(paths)) {
    const key = exact ? path : normalizePath(pathOf(path));
    const present = exact ? filter.has(key) : canExist(filter, key);
    isAnyAbsent ||= !present;
    const line = json
      ? jsonOf({ path, key, present })
      : `${present ? "present" : "absent "}  ${shown(path)}\n`;
    lines += line;
    if (lines.length >= CHARACTERS_A_WRITE) {
      await print(lines);
      lines = "";
    }
  }
  await print(lines);
  process.exitCode = isAnyAbsent ? EXIT.absent : EXIT.done;
}

async function* asked(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) {
    if (path === STDIN) yield* linesOf(process.stdin, "standard input");
    else yield path;
  }
}
