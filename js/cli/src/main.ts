import { readFileSync } from "node:fs";

import { Command, CommanderError } from "commander";

import { CliError, EXIT, systemCode } from "./error.js";
import { jsonOf, oneLine } from "./one-line.js";
import { tellWarnings } from "./warnings.js";

const EXIT_CODES = `
Exit codes:
  0  done; for query: every path may be present
  1  for query: a path is certainly absent; for cache verify: an image was damaged
  2  the command line is not as the help says
  3  what was read or written is missing, damaged, or not what was asked for`;

/** What adds each group of commands. To load a group takes as long as Node takes to start. */
const GROUPS: Readonly<Record<string, () => Promise<(hedgerow: Command) => void>>> = {
  paths: async () => (await import("./paths/index.js")).addPathsCommands,
  snapshot: async () => (await import("./snapshot/index.js")).addSnapshotCommands,
  cache: async () => (await import("./cache/index.js")).addCacheCommands,
};

/** @param wanted the group that the command line begins with; without one, all are there */
async function program(wanted = ""): Promise<Command> {
  const { version } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  ) as { version: string };
  const hedgerow = new Command("hedgerow")
    .description("Tools for the Hedgerow SDK")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .addHelpText("afterAll", EXIT_CODES);
  const groups = Object.hasOwn(GROUPS, wanted) ? [wanted] : Object.keys(GROUPS);
  for (const group of groups) (await GROUPS[group]!())(hedgerow);
  return hedgerow;
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
}

/** What the packages throw, by name: a command does not load those that it does not need. */
const EXPECTED = new Set(["HedgerowError", "SnapshotError"]);

/** What to say of an error that may be expected; `undefined` if it is a fault of this program. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof CommanderError) {
    // A group without a command has shown its help instead of a message.
    const message = error.code === "commander.help" ? "expected a command" : error.message;
    return { code: "ERR_USAGE", message: message.replace(/^error: /, ""), exitCode: EXIT.usage };
  }
  if (error instanceof CliError) return error;
  if (error instanceof Error && EXPECTED.has(error.name)) {
    const { code, message } = error as Error & { code: string };
    return { code, message, exitCode: code === "ERR_ARGUMENT" ? EXIT.usage : EXIT.failed };
  }
  const code = systemCode(error);
  if (code === undefined) return undefined;
  return { code, message: (error as Error).message, exitCode: EXIT.failed };
}

/** Says on standard error what went wrong, in one line. */
function report(error: unknown, json: boolean): number {
  const failure = failureOf(error);
  if (failure === undefined) {
    console.error(error);
    return EXIT.failed;
  }
  const { code, message, exitCode } = failure;
  const line = oneLine(message);
  process.stderr.write(json ? jsonOf({ error: { code, message: line } }) : `hedgerow: ${line}\n`);
  return exitCode;
}

/** Whoever reads the output may stop reading: that is no failure, and nothing to speak of. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? process.exitCode : report(error, false));
});

/** There is nobody to tell when a terminal is closed, and still something to tidy up. */
process.stderr.on("error", () => {});

const json = process.argv.includes("--json");
tellWarnings(json);

try {
  const hedgerow = await program(process.argv[2]);
  await hedgerow.parseAsync();
} catch (error) {
  // Help and the version were asked for, and printed.
  const isDone = error instanceof CommanderError && error.exitCode === 0;
  process.exitCode = isDone ? EXIT.done : report(error, json);
}
