import { readFileSync } from "node:fs";

import { SnapshotError } from "@hedgerow/snapshot";
import { Command, CommanderError } from "commander";
import { HedgerowError } from "hedgerow";

import { addCacheCommands } from "./cache/index.js";
import { CliError, EXIT, systemCode } from "./error.js";
import { oneLine } from "./one-line.js";
import { addPathsCommands } from "./paths/index.js";
import { addSnapshotCommands } from "./snapshot/index.js";
import { tellWarnings } from "./warnings.js";

const EXIT_CODES = `
Exit codes:
  0  done; for query: every path may be present
  1  for query: a path is certainly absent; for cache verify: an image was damaged
  2  the command line is not as the help says
  3  what was read or written is missing, damaged, or not what was asked for`;

function program(): Command {
  const { version } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  ) as { version: string };
  const hedgerow = new Command("hedgerow")
    .description("Tools for the Hedgerow SDK")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .addHelpText("afterAll", EXIT_CODES);
  addPathsCommands(hedgerow);
  addSnapshotCommands(hedgerow);
  addCacheCommands(hedgerow);
  return hedgerow;
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
}

/** What to say of an error that may be expected; `undefined` if it is a fault of this program. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof CommanderError) {
    // A group without a command has shown its help instead of a message.
    const message = error.code === "commander.help" ? "expected a command" : error.message;
    return { code: "ERR_USAGE", message: message.replace(/^error: /, ""), exitCode: EXIT.usage };
  }
  if (error instanceof CliError) return error;
  if (error instanceof HedgerowError || error instanceof SnapshotError) {
    const { code, message } = error;
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
  console.error(json ? JSON.stringify({ error: { code, message: line } }) : `hedgerow: ${line}`);
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
  await program().parseAsync();
} catch (error) {
  // Help and the version were asked for, and printed.
  const isDone = error instanceof CommanderError && error.exitCode === 0;
  process.exitCode = isDone ? EXIT.done : report(error, json);
}
