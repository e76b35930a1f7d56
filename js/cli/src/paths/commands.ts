/** The commands of `hedgerow paths`; `build.ts` has the one that builds a filter. */
import { createReadStream, readFileSync } from "node:fs";
import { ReadableStream as WebStream } from "node:stream/web";

import type { Command } from "commander";
import { canExist, measurePathFilter, mergePathFilters, normalizePath, PathFilter } from "hedgerow";
import { readPathFilterSync } from "hedgerow/node";

import { EXIT } from "../error.js";
import { linesOf, STDIN } from "../files/input.js";
import { checkOutput, printAbout, writeFilter } from "../files/output.js";
import type { OutputFlags } from "../options.js";
import { escapeControls, grouped, jsonOf, print, table } from "../print.js";
import { addBuildCommand } from "./build.js";
import { bodyOf, factsOf, namedFilter, readingFilter, summary } from "./filter-file.js";
import { pathOf } from "./keys.js";

/** Adds `hedgerow paths …`. */
export function addPathsCommands(hedgerow: Command): void {
  const paths = hedgerow
    .command("paths")
    .description("Path filters: whether a path of a deployment can exist");
  addBuildCommand(paths);
  addMergeCommand(paths);
  addQueryCommand(paths);
  addInfoCommand(paths);
}

const HELP = `
Build the filters with the same rate and the same --capacity, which is the number of paths in all of
them. A path that is in several filters counts more than once.`;

interface MergeOptions {
  readonly output: string;
  readonly json: boolean;
}

/** Adds `hedgerow paths merge`. */
function addMergeCommand(paths: Command): void {
  paths
    .command("merge")
    .description("merge filters into one that has the paths of all")
    .argument("<filter...>", "filters to merge")
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

/** Output is buffered up to this many characters. */
const BUFFER_LENGTH = 1 << 16;

/** Adds `hedgerow paths query`. */
function addQueryCommand(paths: Command): void {
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

/** Adds `hedgerow paths info`. */
function addInfoCommand(paths: Command): void {
  paths
    .command("info")
    .description("print the parameters of a filter and its false-positive rate")
    .argument("<file>", "the filter")
    .option("--json", "print one JSON object", false)
    .action(info);
}

async function info(file: string, { json }: { json: boolean }): Promise<void> {
  const chunks: Buffer[] = [];
  // A stream, so that a file that is not a filter is rejected without reading all of it.
  const stream = WebStream.from(chunksOf(file, chunks)) as ReadableStream<Uint8Array>;
  const filter = await readingFilter(file, () => PathFilter.load(stream));
  const { version, bloom, wildcards = 0 } = filter.params;
  const content = Buffer.concat(chunks);
  const { bitsSet, falsePositiveRate } = await readingFilter(file, () =>
    measurePathFilter(content),
  );
  const body = bodyOf(filter.params);
  const { kind, n, m, s } = body;
  const bytes = content.length;
  if (json) {
    const facts = { ...body, wildcards, bytes, bitsSet, falsePositiveRate };
    await print(jsonOf({ version, ...facts }));
    return;
  }
  const bits = bloom ? m : 24 * m;
  const rows = {
    kind,
    version: escapeControls(version) || "none",
    paths: grouped(n),
    wildcards: wildcards === 0 ? "none" : `to depth ${wildcards}`,
    bytes: `${grouped(bytes)} (${(bytes / Math.max(n, 1)).toFixed(1)} a path)`,
    ...(bloom ? {} : { slots: grouped(m) }),
    bits: grouped(bits),
    "bits set": `${grouped(bitsSet)} (${((100 * bitsSet) / bits).toFixed(1)} %)`,
    ...(bloom ? { hashes: String(bloom.k) } : {}),
    seed: String(s),
    ...(bloom ? { "false positives, requested": String(bloom.p) } : {}),
    "false positives, expected": falsePositiveRate.toPrecision(3),
  };
  await print(table(rows));
}

/** Reads a file in chunks and collects them in `chunks`. */
async function* chunksOf(file: string, chunks: Buffer[]): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(file)) {
    chunks.push(chunk);
    yield chunk;
  }
}
