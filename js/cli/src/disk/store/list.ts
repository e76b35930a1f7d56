import type { Reference } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { CliError } from "../../error.js";
import { interruptible } from "../../interrupt.js";
import { jsonOf, oneLine } from "../../one-line.js";
import { jsonOption } from "../../options.js";
import { columns, grouped, print, size, table } from "../../print.js";
import { addStoreTransferOptions } from "../../snapshot/transfer-options.js";
import { type StoreFlags, storeArgument, withStore } from "./open.js";

interface ListFlags extends StoreFlags {
  readonly prefix?: string;
  readonly snapshot?: string;
}

/** Adds `hedgerow disk list`. */
export function addListCommand(disk: Command): void {
  const command = disk
    .command("list")
    .description("print the names of disks in order, one per line, as they are read")
    .addArgument(storeArgument())
    .option("--prefix <text>", "beginning of the names (default: all disks)")
    .option(
      "--snapshot <identity>",
      "list only the generations that need this snapshot, with its size",
    )
    .addOption(jsonOption())
    .action(list);
  addStoreTransferOptions(command);
}

async function list(place: string, flags: ListFlags): Promise<void> {
  const { prefix, snapshot, json } = flags;
  if (snapshot !== undefined) {
    if (prefix === undefined) return listUsers(place, snapshot, flags);
    throw new CliError("ERR_USAGE", "--prefix and --snapshot: expected one of them, found both");
  }
  const names: string[] = [];
  await withStore(place, flags, async (store) => {
    for await (const name of store.list({ prefix })) {
      if (json) names.push(name);
      else await print(`${oneLine(name)}\n`);
    }
  });
  if (json) await print(jsonOf({ names }));
}

/** Prints the size of a snapshot, and the generations that need it. */
async function listUsers(place: string, identity: string, flags: ListFlags): Promise<void> {
  const explanation = await interruptible((signal) =>
    withStore(place, flags, (store) => store.explain(identity, { signal }), { signal }),
  );
  const { bytes, references } = explanation;
  const rows = {
    identity: explanation.digest,
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
