import { inspectSnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { digestOption, jsonOption, parseFile, type ReadFlags } from "./options.js";
import { printResult } from "./result.js";

/** Adds `hedgerow snapshot info`. */
export function addInfoCommand(snapshot: Command): void {
  snapshot
    .command("info")
    .description("print what is in a snapshot, from its last bytes")
    .argument("<file.vhs>", "the snapshot", parseFile)
    .addOption(digestOption())
    .addOption(jsonOption())
    .action(info);
}

async function info(file: string, flags: ReadFlags): Promise<void> {
  await printResult(await inspectSnapshot(file, { digest: flags.digest }), flags);
}
