import type { Duration } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { CliError } from "../../error.js";
import { interruptible } from "../../interrupt.js";
import { jsonOf, oneLine } from "../../one-line.js";
import { jsonOption, parseWhole } from "../../options.js";
import { columns, print } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { dryRunOption, type StoreFlags, storeArgument, withStore } from "./open.js";

interface ExpireFlags extends StoreFlags {
  readonly name?: string;
  readonly keepLast?: number;
  readonly olderThan?: Duration;
  readonly dryRun: boolean;
}

/** Adds `hedgerow disk expire`. */
export function addExpireCommand(disk: Command): void {
  const command = disk
    .command("expire")
    .description(
      "remove old generations, but never the last one of a disk, one that a fork began from, or one that is attached",
    )
    .addArgument(storeArgument())
    .option("--name <name>", "disk whose generations expire (default: all disks)")
    .option(
      "--keep-last <number>",
      "number of generations of each disk that stay in any case (default: 1)",
      parseWhole,
    )
    .option("--older-than <duration>", "age from which others expire, such as 30d (default: any)")
    .addOption(dryRunOption("removed"))
    .addOption(jsonOption())
    .action(expire);
  addStoreTransferOptions(command);
}

async function expire(place: string, flags: ExpireFlags): Promise<void> {
  const { name, keepLast, olderThan, dryRun } = flags;
  if (keepLast === undefined && olderThan === undefined) {
    const message = "--keep-last and --older-than: expected at least one of them, found neither";
    throw new CliError("ERR_USAGE", message);
  }
  const expired = await interruptible((signal) =>
    withStore(
      place,
      flags,
      (store) => store.expire({ name, keepLast, olderThan, dryRun, signal }),
      { signal },
    ),
  );
  const rows = expired.map((one) => [oneLine(one.name), String(one.generation)]);
  await print(flags.json ? jsonOf({ expired }) : columns([["disk", "generation"], ...rows]));
}
