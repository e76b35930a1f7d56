import { createSnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { jsonOption, type OutputFlags, parseSize, parseWhole } from "../options.js";
import {
  overwriteOption,
  PLACE,
  parsePlace,
  type WorkFlags,
  type WriteFlags,
  workersOption,
} from "./options.js";
import { printResult } from "./result.js";
import { addTransferOptions, type TransferFlags, transferOf } from "./transfer-options.js";
import { doWork } from "./work.js";

interface CreateFlags extends OutputFlags, WorkFlags, WriteFlags, TransferFlags {
  readonly level?: number;
  readonly pieceSize?: number;
}

/** Adds `hedgerow snapshot create`. */
export function addCreateCommand(snapshot: Command): void {
  const command = snapshot
    .command("create")
    .description("make a snapshot of a disk image")
    .argument("<image>", "image to read; it must not change meanwhile", parsePlace)
    .argument("<snapshot>", `snapshot to write: ${PLACE}`, parsePlace)
    .option("--level <number>", "zstd compression level, 1 to 19 (default: 3)", parseWhole)
    .option(
      "--piece-size <size>",
      "maximum size of a piece, a power of two from 4KiB to 16MiB (default: 1MiB)",
      parseSize,
    )
    .addOption(overwriteOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(create);
  addTransferOptions(command);
}

async function create(image: string, place: string, flags: CreateFlags): Promise<void> {
  const { level, pieceSize, overwrite, workers } = flags;
  const options = { level, pieceSize, overwrite, workers, ...transferOf(flags) };
  const info = await doWork("create", (hooks) =>
    createSnapshot(image, place, { ...options, ...hooks }),
  );
  await printResult(info, flags);
}
