/** The process of `npm create hedgerow`. */
import { run } from "./run.js";

/** A reader that closes the pipe early is not a failure. */
process.stdout.on("error", () => {});

process.exitCode = await run(process.argv.slice(2));
