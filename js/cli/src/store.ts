/** The commands of `hedgerow store`. */
import { checkStore, type StoreCheck } from "@hedgerow/snapshot";
import { Argument, type Command } from "commander";

import { EXIT } from "./error.js";
import { interruptible } from "./interrupt.js";
import { jsonOption, type OutputFlags } from "./options.js";
import { columns, jsonOf, oneLine, print, table } from "./print.js";
import {
  addStoreTransferOptions,
  parsePlace,
  STORE_PLACE,
  type TransferFlags,
  transferOf,
} from "./snapshot/options.js";

/** Adds `hedgerow store …`. */
export function addStoreCommands(hedgerow: Command): void {
  const store = hedgerow
    .command("store")
    .description("Object services: find out what a service guarantees");
  addStoreTransferOptions(
    store
      .command("check")
      .description("try what restores, snapshots and disks need, with temporary objects")
      .addArgument(new Argument("<place>", STORE_PLACE).argParser(parsePlace))
      .addOption(jsonOption()),
  ).action(check);
}

async function check(place: string, flags: OutputFlags & TransferFlags): Promise<void> {
  const { headers: _, ...options } = transferOf(flags);
  const report = await interruptible((signal) => checkStore(place, { ...options, signal }));
  const { restore, create, disks } = report.works;
  if (flags.json) await print(jsonOf(report));
  else {
    await print(columns([HEAD, ...report.checks.map(rowOf)]));
    const use = (works: boolean) => (works ? "works" : "does not work");
    const uses = { restore: use(restore), create: use(create), disks: use(disks) };
    await print(`\n${table(uses)}`);
  }
  process.exitCode = restore && create && disks ? EXIT.done : EXIT.lacking;
}

const HEAD = ["guarantee", "holds", "time", "needed for", "found"];

function rowOf({ name, ok, time, uses, found = "" }: StoreCheck): string[] {
  const holds = ok ? "yes" : "no";
  return [name, holds, `${Math.round(time)} ms`, uses.join(", ") || "nothing", oneLine(found)];
}
