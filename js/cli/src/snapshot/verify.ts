import { verifySnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import {
  digestOption,
  jsonOption,
  parseFile,
  type ReadFlags,
  type WorkFlags,
  workersOption,
} from "./options.js";
import { printResult } from "./result.js";
import { doWork } from "./work.js";

/** Adds `hedgerow snapshot verify`. */
export function addVerifyCommand(snapshot: Command): void {
  snapshot
    .command("verify")
    .description("check every byte of a snapshot")
    .argument("<file.vhs>", "the snapshot", parseFile)
    .addOption(digestOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(verify);
}

async function verify(file: string, flags: ReadFlags & WorkFlags): Promise<void> {
  const { digest, workers } = flags;
  const info = await doWork("verify", (hooks) =>
    verifySnapshot(file, { digest, workers, ...hooks }),
  );
  await printResult(info, flags);
}
