/** The command `hedgerow`: what it consists of, and running a command line. */
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";

import { EXIT, report, systemCode } from "./error.js";
import { EXAMPLES, OVERVIEW } from "./examples.js";
import { jsonOf, oneLine, print } from "./print.js";

const EXIT_CODES = `
Exit codes:
  0  success; for query: every path may be present
  1  for query: a path is certainly absent; for headers check: a list has findings; for cache
     verify: an image was damaged; for store check: a use does not work
  2  invalid command line
  3  an input or output is missing, damaged, in use or not the expected one
  130, 143  ended by SIGINT or SIGTERM, as disk open, attach and mount are, after everything was
     saved and closed; another signal adds its number to 128`;

/** Loads each group of commands on demand: loading a group takes as long as starting Node. */
const GROUPS: Readonly<Record<string, () => Promise<(hedgerow: Command) => void>>> = {
  paths: async () => (await import("./paths/commands.js")).addPathsCommands,
  headers: async () => (await import("./headers/check.js")).addHeadersCommands,
  image: async () => (await import("./image/commands.js")).addImageCommands,
  snapshot: async () => (await import("./snapshot/commands.js")).addSnapshotCommands,
  disk: async () => (await import("./disk/commands.js")).addDiskCommands,
  store: async () => (await import("./store.js")).addStoreCommands,
  cache: async () => (await import("./cache.js")).addCacheCommands,
  fleet: async () => (await import("./fleet/commands.js")).addFleetCommands,
  completion: async () => (await import("./completion/commands.js")).addCompletionCommand,
};

/** The group whose command needs all others. */
const COMPLETION = "completion";

/** The options that need no group. */
const VERSION = ["-V", "--version"];

/**
 * Returns the command `hedgerow`.
 *
 * @param wanted the first argument: a group, the only one that is loaded, or an option that needs none. Otherwise, all
 *   groups are loaded
 */
export async function program(wanted = ""): Promise<Command> {
  const { version } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  ) as { version: string };
  const hedgerow = new Command("hedgerow")
    .description("Path filters, header rules, disk snapshots, stores of disks, caches and fleets")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  for (const group of groupsFor(wanted)) (await GROUPS[group]!())(hedgerow);
  addHelpTexts(hedgerow, "");
  return hedgerow;
}

/** Returns the groups to load for a first argument. */
function groupsFor(wanted: string): readonly string[] {
  if (VERSION.includes(wanted)) return [];
  const isOne = Object.hasOwn(GROUPS, wanted) && wanted !== COMPLETION;
  return isOne ? [wanted] : Object.keys(GROUPS);
}

/** Ends the help of a command, and of those below it, with the exit codes and its examples. */
function addHelpTexts(command: Command, path: string): void {
  const examples = EXAMPLES[path]?.map((example) => `\n  hedgerow ${example}`).join("");
  command.addHelpText("after", `${EXIT_CODES}\n\nExamples:${examples}`);
  for (const below of command.commands) addHelpTexts(below, `${path} ${below.name()}`.trimStart());
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
