import { inspectSnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { jsonOption } from "../options.js";
import { digestOption, PLACE, parsePlace, type ReadFlags } from "./options.js";
import { printResult } from "./result.js";
import { addTransferOptions, type TransferFlags, transferOf } from "./transfer-options.js";

interface InfoFlags extends ReadFlags, TransferFlags {}

/** Adds `hedgerow snapshot info`. */
export function addInfoCommand(snapshot: Command): void {
  const command = snapshot
    .command("info")
    .description("print the sizes and the identity of a snapshot; reads only its tail")
    .argument("<snapshot>", `snapshot to read: ${PLACE}`, parsePlace)
    .addOption(digestOption())
    .addOption(jsonOption())
    .action(info);
  addTransferOptions(command);
}

async function info(place: string, flags: InfoFlags): Promise<void> {
  const { digest } = flags;
  await printResult(await inspectSnapshot(place, { digest, ...transferOf(flags) }), flags);
}
