import { restoreSnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { jsonOption } from "../options.js";
import { addCacheOptions, type CacheFlags, withCacheOf } from "./cache-options.js";
import {
  digestOption,
  overwriteOption,
  PLACE,
  parsePlace,
  type ReadFlags,
  type WorkFlags,
  type WriteFlags,
  workersOption,
} from "./options.js";
import { printResult } from "./result.js";
import { addTransferOptions, type TransferFlags, transferOf } from "./transfer-options.js";
import { doWork } from "./work.js";

interface RestoreFlags extends ReadFlags, WorkFlags, WriteFlags, CacheFlags, TransferFlags {
  readonly resume: boolean;
}

/** Adds `hedgerow snapshot restore`. */
export function addRestoreCommand(snapshot: Command): void {
  const command = snapshot
    .command("restore")
    .description("restore a disk image from a snapshot")
    .argument("<snapshot>", `snapshot to read: ${PLACE}`, parsePlace)
    .argument("<image>", "image to write; holes stay holes", parsePlace)
    .addOption(digestOption())
    .option(
      "--resume",
      "continue an interrupted restore, and keep its state if this one ends",
      false,
    )
    .addOption(overwriteOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(restore);
  addCacheOptions(
    command,
    "image cache to restore through; a cached image is copied from it (disables --resume)",
  );
  addTransferOptions(command);
}

async function restore(place: string, image: string, flags: RestoreFlags): Promise<void> {
  const { digest, resume, overwrite, workers } = flags;
  const options = { digest, resume, overwrite, workers, ...transferOf(flags) };
  const { hit, ...info } = await doWork("restore", (hooks) =>
    withCacheOf(flags, (cache) => restoreSnapshot(place, image, { ...options, cache, ...hooks })),
  );
  await printResult(flags.cache === undefined ? info : { ...info, hit }, flags);
}
