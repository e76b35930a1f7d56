import { type Command, InvalidArgumentError, Option } from "commander";
import { normalizePath, PathFilterBuilder, type PathFilterOptions } from "hedgerow";

import { CliError } from "../error.js";
import { checkOutput, printAbout, writeFilter } from "../files/output.js";
import { grouped, jsonOf, oneLine } from "../print.js";
import { startSpinner } from "../progress.js";
import { factsOf, summary } from "./filter-file.js";
import { EVERYTHING } from "./keys.js";
import { detectKind, keysOf, SOURCE_KINDS, type SourceKind } from "./sources/index.js";

const HELP = `
Sources:
  directory     static files. /about/index.html is /about as well. Hidden files count; .git, .hg
                and .svn do not. Links are followed, except to a directory that contains them: such
                a link is a page and a wildcard. Redirects and rewrites in _redirects, netlify.toml,
                vercel.json, firebase.json and staticwebapp.config.json count as well.
  build-output  .vercel/output (Build Output API v3): files, functions and routes
  next          .next or another distDir, and public and static of its project
  sitemap       .xml or .xml.gz: the path of each URL
  list          .txt, or - for standard input: a path or URL a line

A path that ends in /* is a wildcard: any path below it may exist. A dynamic route becomes a
wildcard for the directory in which it begins to vary. Routes match in any case; the filter contains
them as written and in lower case.`;

/** Paths between two updates of the progress: checking the clock for each would cost more than the path. */
const PATHS_PER_UPDATE = 1 << 12;

const PAGES_ONLY =
  "a sitemap lists pages only: the filter rejects scripts, styles and images; add their directory as a source";

interface BuildOptions {
  readonly output: string;
  readonly sourceKind?: SourceKind;
  readonly kind: NonNullable<PathFilterOptions["kind"]>;
  readonly falsePositiveRate?: number;
  readonly capacity?: number;
  readonly basePath: string;
  readonly cleanUrls: boolean;
  readonly ignoreMiddleware: boolean;
  readonly ignoreHosts: boolean;
  readonly json: boolean;
}

/** Adds `hedgerow paths build`. */
export function addBuildCommand(paths: Command): void {
  paths
    .command("build")
    .description("build a filter of the paths that a deployment answers")
    .argument("<source...>", "where to read paths from; - is a list on standard input")
    .requiredOption("-o, --output <file>", "where to write the filter; - is standard output")
    .addOption(
      new Option(
        "--source-kind <kind>",
        "kind of the sources (default: detected for each)",
      ).choices(SOURCE_KINDS),
    )
    .addOption(
      new Option("--kind <kind>", "kind of the filter; fuse is smaller, at a rate of 6e-8")
        .choices(["bloom", "fuse"])
        .default("bloom"),
    )
    .option(
      "-p, --false-positive-rate <rate>",
      "share of absent paths reported as present (default: 1e-7)",
      Number,
    )
    .option(
      "--capacity <number>",
      "number of paths to size the filter for: that of all parts, if it will be merged",
      Number,
    )
    .option("--base-path <prefix>", "prefix for every path", parseBasePath, "")
    .option("--clean-urls", "directory: also add pages without .html or .htm", false)
    .option(
      "--ignore-middleware",
      "leave out middleware that only adds headers or rejects paths",
      false,
    )
    .option(
      "--ignore-hosts",
      "directory: do not read _redirects, vercel.json and other files of hosts",
      false,
    )
    .option("--json", "print one JSON object", false)
    .addHelpText("after", HELP)
    .action(buildFilter);
}

async function buildFilter(sources: string[], options: BuildOptions): Promise<void> {
  const { output } = options;
  checkOutput(output);
  const warnings = new Set<string>();
  const file = await collect(sources, options, (message) => warnings.add(message));
  await writeFilter(output, file);
  for (const warning of options.json ? [] : warnings) {
    process.stderr.write(`hedgerow: ${oneLine(warning)}\n`);
  }
  const text = options.json
    ? jsonOf({ ...factsOf(file), output, warnings: [...warnings] })
    : `${summary(file)}\n`;
  await printAbout(output, text);
}

/** Reads all sources and returns the filter file of their paths. */
async function collect(
  sources: readonly string[],
  options: BuildOptions,
  warn: (message: string) => void,
): Promise<Uint8Array> {
  const kinds = sources.map((source) => options.sourceKind ?? detectKind(source));
  if (kinds.every((kind) => kind === "sitemap")) warn(PAGES_ONLY);
  const { kind, falsePositiveRate, capacity } = options;
  const builder = new PathFilterBuilder({
    kind,
    ...(falsePositiveRate === undefined ? {} : { falsePositiveRate }),
    ...(capacity === undefined ? {} : { capacity }),
  });
  const spinner = await startSpinner("collecting paths");
  try {
    let count = 0;
    for (const [index, source] of sources.entries()) {
      for await (const path of keysOf(kinds[index]!, source, { ...options, warn })) {
        const key = normalizePath(`${options.basePath}/${path}`);
        builder.add(key);
        count += 1;
        if (count % PATHS_PER_UPDATE === 0) spinner.text = `${grouped(count)} paths`;
        if (key === EVERYTHING)
          warn("the filter rejects nothing: a source says that any path may exist");
      }
    }
    if (count === 0) throw new CliError("ERR_SOURCE", "expected paths, found none in any source");
    return builder.build();
  } finally {
    spinner.stop();
    builder.free();
  }
}

function parseBasePath(text: string): string {
  if (text !== "" && !text.startsWith("/"))
    throw new InvalidArgumentError("expected a path that begins with /");
  return text;
}
