import { verifySnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { jsonOption } from "../options.js";
import {
  digestOption,
  PLACE,
  parsePlace,
  type ReadFlags,
  type WorkFlags,
  workersOption,
} from "./options.js";
import { printResult } from "./result.js";
import { addTransferOptions, type TransferFlags, transferOf } from "./transfer-options.js";
import { doWork } from "./work.js";

interface VerifyFlags extends ReadFlags, WorkFlags, TransferFlags {}

/** Adds `hedgerow snapshot verify`. */
export function addVerifyCommand(snapshot: Command): void {
  const command = snapshot
    .command("verify")
    .description("check every byte of a snapshot")
    .argument("<snapshot>", `snapshot to read: ${PLACE}`, parsePlace)
    .addOption(digestOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(verify);
  addTransferOptions(command);
}

async function verify(place: string, flags: VerifyFlags): Promise<void> {
  const { digest, workers } = flags;
  const options = { digest, workers, ...transferOf(flags) };
  const info = await doWork("verify", (hooks) => verifySnapshot(place, { ...options, ...hooks }));
  await printResult(info, flags);
}
