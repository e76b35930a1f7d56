/** The process of the command: its streams, arguments and exit code. */
import { report } from "./error.js";
import { run } from "./program.js";

const args = process.argv.slice(2);

/** A reader that closes the pipe early, such as `head`, is not a failure. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // Work that must clean up ends first.
  if (process.stdout.listenerCount("error") > 1) return;
  process.exit(error.code === "EPIPE" ? process.exitCode : report(error, args.includes("--json")));
});

/** A closed terminal must not stop the clean-up. */
process.stderr.on("error", () => {});

await run(args);
