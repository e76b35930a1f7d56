import { CommanderError } from "commander";

import { CliError, EXIT, systemCode } from "./error.js";
import { OVERVIEW } from "./examples.js";
import { jsonOf, oneLine } from "./one-line.js";
import { print } from "./print.js";
import { program } from "./program.js";
import { printWarnings } from "./warnings.js";

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
}

/** Error classes of the packages, by name, so that a command loads only the packages it needs. */
const EXPECTED = new Set(["HedgerowError", "SnapshotError", "FleetError"]);

/** Matches the messages of V8 for memory that it cannot get. */
const OUT_OF_MEMORY = /out of memory|could not allocate|allocation failed/i;

/** Hints of the API, and what to do instead on the command line. */
const HINTS = [
  ['pass format: "raw"', "pass --format raw"],
  ["pass overwrite: true", "omit --no-overwrite"],
  ["pass steal: true", "pass --steal"],
  ["pass images,", "pass --images,"],
] as const;

/** Describes an expected error; returns `undefined` for a bug in this program. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof CommanderError) {
    // For a group without a command, commander prints the help and sets no message.
    const message = error.code === "commander.help" ? "expected a command" : error.message;
    return { code: "ERR_USAGE", message: message.replace(/^error: /, ""), exitCode: EXIT.usage };
  }
  if (error instanceof CliError) return error;
  if (error instanceof Error && EXPECTED.has(error.name)) {
    const { code, message: text } = error as Error & { code: string };
    const message = HINTS.reduce((found, [hint, option]) => found.replace(hint, option), text);
    return { code, message, exitCode: code === "ERR_ARGUMENT" ? EXIT.usage : EXIT.failed };
  }
  if (error instanceof RangeError && OUT_OF_MEMORY.test(error.message)) {
    const message = `too little memory, or a low limit of virtual memory (ulimit -v): ${error.message}`;
    return { code: "ERR_WORKER", message, exitCode: EXIT.failed };
  }
  const code = systemCode(error);
  if (code === undefined) return undefined;
  return { code, message: (error as Error).message, exitCode: EXIT.failed };
}

/** Prints an error on standard error, in one line, and returns the exit code. */
export function report(error: unknown, json: boolean): number {
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

/**
 * Runs a command line. Prints errors and warnings on standard error, and sets the exit code of the process.
 *
 * @param args without the program and the script
 */
export async function run(args: readonly string[]): Promise<void> {
  const json = args.includes("--json");
  printWarnings(json);
  try {
    if (args.length === 0) return await print(OVERVIEW);
    const hedgerow = await program(args[0]);
    await hedgerow.parseAsync(args, { from: "user" });
  } catch (error) {
    // `--help` and `--version` also throw, after printing. A reader that closes the pipe early is not a failure.
    const isDone =
      (error instanceof CommanderError && error.exitCode === 0) || systemCode(error) === "EPIPE";
    process.exitCode = isDone ? EXIT.done : report(error, json);
  }
}
