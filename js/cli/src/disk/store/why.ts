import type { Reference } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { interruptible } from "../../interrupt.js";
import { jsonOf, oneLine } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { columns, grouped, print, size, table } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { type StoreFlags, storeArgument, withStore } from "./open.js";

/** Adds `hedgerow disk why`. */
export function addWhyCommand(disk: Command): void {
  const command = disk
    .command("why")
    .description("print the size of a snapshot, and the generations that need it")
    .addArgument(storeArgument())
    .argument("<digest>", "digest of the snapshot")
    .addOption(jsonOption())
    .action(why);
  addStoreTransferOptions(command);
}

async function why(place: string, digest: string, flags: StoreFlags): Promise<void> {
  const explanation = await interruptible((signal) =>
    withStore(place, flags, (store) => store.explain(digest, { signal }), { signal }),
  );
  const { bytes, references } = explanation;
  const rows = {
    digest: explanation.digest,
    size: bytes === undefined ? "not in the store" : size(bytes),
    references: grouped(references.length),
  };
  const listed = references.length === 0 ? "" : columns([HEAD, ...references.map(rowOf)]);
  await print(flags.json ? jsonOf(explanation) : table(rows) + listed);
}

const HEAD = ["disk", "generation", "as"];

function rowOf({ name, generation, as }: Reference): string[] {
  return [oneLine(name), String(generation), as];
}
