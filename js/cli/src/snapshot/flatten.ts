import { flattenSnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { jsonOption, parseSize, parseWhole } from "../options.js";
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

interface FlattenFlags extends ReadFlags, WorkFlags, WriteFlags, TransferFlags {
  readonly level?: number;
  readonly pieceSize?: number;
}

/** Adds `hedgerow snapshot flatten`. */
export function addFlattenCommand(snapshot: Command): void {
  const command = snapshot
    .command("flatten")
    .description("make a full snapshot of a delta")
    .argument("<source>", `delta or snapshot to read: ${PLACE}`, parsePlace)
    .argument("<destination>", `snapshot to write: ${PLACE}`, parsePlace)
    .option("--level <number>", "zstd compression level, 1 to 19 (default: 3)", parseWhole)
    .option(
      "--piece-size <size>",
      "maximum size of a piece, a power of two from 4KiB to 16MiB (default: that of the source)",
      parseSize,
    )
    .addOption(digestOption())
    .addOption(overwriteOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(flatten);
  addTransferOptions(command);
}

async function flatten(source: string, destination: string, flags: FlattenFlags): Promise<void> {
  const { level, pieceSize, digest, overwrite, workers } = flags;
  const options = { level, pieceSize, digest, overwrite, workers, ...transferOf(flags) };
  const info = await doWork("restore", (hooks) =>
    flattenSnapshot(source, destination, { ...options, ...hooks }),
  );
  await printResult(info, flags);
}
