import { setFlagsFromString } from "node:v8";

import type { Duration } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { interruptible } from "../../interrupt.js";
import { jsonOf } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { columns, grouped, print, size, table } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { dryRunOption, imagesOption, type StoreFlags, storeArgument, withStore } from "./open.js";

interface CollectFlags extends StoreFlags {
  readonly grace?: Duration;
  readonly dryRun: boolean;
}

/** Adds `hedgerow disk collect`. */
export function addCollectCommand(disk: Command): void {
  const command = disk
    .command("collect")
    .description(
      "delete snapshots that no generation has needed for the grace period, and leftovers of killed processes",
    )
    .addArgument(storeArgument())
    .option(
      "--grace <duration>",
      "how long a snapshot must have been marked; longer than any save takes (default: 24h)",
    )
    .addOption(dryRunOption("deleted"))
    .addOption(imagesOption())
    .addOption(jsonOption())
    .action(collect);
  addStoreTransferOptions(command);
}

async function collect(place: string, flags: CollectFlags): Promise<void> {
  const { grace, dryRun } = flags;
  // Lists of objects become garbage at once. By default, V8 keeps 200 MB of it.
  setFlagsFromString("--optimize-for-size");
  const collected = await interruptible((signal) =>
    withStore(place, flags, (store) => store.collect({ grace, dryRun, signal }), { signal }),
  );
  const { snapshots, deleted, bytes, marked, leftovers } = collected;
  const rows = {
    snapshots: grouped(snapshots),
    [dryRun ? "would delete" : "deleted"]: `${grouped(deleted.length)}, ${size(bytes)}`,
    "in grace period": grouped(marked),
    leftovers: grouped(leftovers),
  };
  const listed = deleted.map((one) => [one.digest, size(one.bytes)]);
  await print(flags.json ? jsonOf(collected) : table(rows) + columns(listed));
}
