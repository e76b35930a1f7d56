/** Runs one command line. */
import { CommanderError } from "commander";

import { EXIT, report, systemCode } from "./error.js";
import { OVERVIEW } from "./examples.js";
import { jsonOf, oneLine, print } from "./print.js";
import { program } from "./program.js";

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

/**
 * Prints each process warning on standard error in one line, with `--json` as an object. Node's default prints a second
 * line about `--trace-warnings`, which does not help users of the command.
 */
function printWarnings(json: boolean): void {
  // The AWS SDK would warn about Node versions that it will drop later.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    const message = oneLine(warning.message);
    process.stderr.write(json ? jsonOf({ warning: { message } }) : `hedgerow: ${message}\n`);
  });
}
