#!/usr/bin/env node
// npm links only to files that exist when it installs, before anything is built.
import { run } from "../dist/run.js";

/** A reader that closes the pipe early is not a failure. */
process.stdout.on("error", () => {});

process.exitCode = await run(process.argv.slice(2));
