import { restoreSnapshot } from "@hedgerow/snapshot";
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

/** Adds `hedgerow snapshot restore`. */
export function addRestoreCommand(snapshot: Command): void {
  snapshot
    .command("restore")
    .description("restore a disk image from a snapshot")
    .argument("<file.vhs>", "the snapshot", parseFile)
    .argument("<image>", "the image; holes stay holes", parseFile)
    .addOption(digestOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(restore);
}

async function restore(file: string, image: string, flags: ReadFlags & WorkFlags): Promise<void> {
  const { digest, workers } = flags;
  const info = await doWork("restore", (hooks) =>
    restoreSnapshot(file, image, { digest, workers, ...hooks }),
  );
  await printResult(info, flags);
}
