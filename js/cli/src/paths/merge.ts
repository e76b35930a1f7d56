import { readFileSync } from "node:fs";

import type { Command } from "commander";
import { measurePathFilter, mergePathFilters } from "hedgerow";

import { jsonOf } from "../one-line.js";
import { factsOf, summary } from "./facts.js";
import { checkOutput, printAbout, writeFilter } from "./output.js";
import { namedFilter } from "./read-filter.js";

const HELP = `
Build the filters with the same rate and the same --capacity, which is the number of paths in all of
them. A path that is in several filters counts more than once.`;

interface MergeOptions {
  readonly output: string;
  readonly json: boolean;
}

/** Adds `hedgerow paths merge`. */
export function addMergeCommand(paths: Command): void {
  paths
    .command("merge")
    .description("merge filters into one that has the paths of all")
    .argument("<filter...>", "the filters")
    .requiredOption("-o, --output <file>", "where to write the filter; - is standard output")
    .option("--json", "print one JSON object", false)
    .addHelpText("after", HELP)
    .action(merge);
}

async function merge(files: string[], options: MergeOptions): Promise<void> {
  const { output, json } = options;
  checkOutput(output);
  const file = mergeFiles(files);
  await writeFilter(output, file);
  const { bitsSet, falsePositiveRate } = measurePathFilter(file);
  const text = json
    ? jsonOf({ ...factsOf(file), bitsSet, falsePositiveRate, output })
    : `at most ${summary(file)}, expected rate ${falsePositiveRate.toPrecision(3)}\n`;
  await printAbout(output, text);
}

/** Reads the filters one by one, and names the one that cannot be merged. */
function mergeFiles(files: readonly string[]): Uint8Array {
  let current: string | undefined;
  const contents = function* () {
    for (current of files) yield readFileSync(current);
    current = undefined;
  };
  try {
    return mergePathFilters(contents());
  } catch (error) {
    throw current === undefined ? error : namedFilter(error, current);
  }
}
