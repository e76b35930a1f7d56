import type { Command } from "commander";
import { canExist, normalizePath } from "hedgerow";
import { readPathFilterSync } from "hedgerow/node";

import { EXIT } from "../error.js";
import { linesOf } from "../files/lines.js";
import { escapeControls, jsonOf } from "../one-line.js";
import type { OutputFlags } from "../options.js";
import { print } from "../print.js";
import { pathOf } from "./path-text.js";
import { readingFilter } from "./read-filter.js";
import { STDIN } from "./sources/list.js";

/** Output is buffered up to this many characters. */
const BUFFER_LENGTH = 1 << 16;

/** Adds `hedgerow paths query`. */
export function addQueryCommand(paths: Command): void {
  paths
    .command("query")
    .description("ask a filter whether paths can exist")
    .argument("<file>", "the filter")
    .argument("<path...>", "paths or URLs; - reads them from standard input, one per line")
    .option("--json", "print one JSON object per line", false)
    .addHelpText("after", "\nPresent: the path may exist. Absent: it does not exist.")
    .action(query);
}

async function query(file: string, paths: string[], { json }: OutputFlags): Promise<void> {
  const filter = await readingFilter(file, () => readPathFilterSync(file));
  let isAnyAbsent = false;
  let lines = "";
  for await (const path of queried(paths)) {
    const key = normalizePath(pathOf(path));
    const present = canExist(filter, key);
    isAnyAbsent ||= !present;
    const line = json
      ? jsonOf({ path, key, present })
      : `${present ? "present" : "absent "}  ${escapeControls(path)}\n`;
    lines += line;
    if (lines.length >= BUFFER_LENGTH) {
      await print(lines);
      lines = "";
    }
  }
  await print(lines);
  process.exitCode = isAnyAbsent ? EXIT.absent : EXIT.done;
}

async function* queried(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) {
    if (path === STDIN) yield* linesOf(process.stdin, "standard input");
    else yield path;
  }
}
