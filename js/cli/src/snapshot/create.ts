import { createSnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { jsonOption, type OutputFlags, parseShare, parseSize, parseWhole } from "../options.js";
import { addCacheOptions, type CacheFlags, withCacheOf } from "./cache-options.js";
import {
  formatOption,
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

interface CreateFlags extends OutputFlags, WorkFlags, WriteFlags, CacheFlags, TransferFlags {
  readonly level?: number;
  readonly pieceSize?: number;
  readonly base?: string;
  readonly baseDigest?: string;
  readonly minLive?: number;
  readonly format?: "raw";
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
      "maximum size of a piece, a power of two from 4KiB to 16MiB (default: 1MiB, or that of the base)",
      parseSize,
    )
    .option(
      "--base <snapshot>",
      "make a delta that contains only what differs from this snapshot or delta",
      parsePlace,
    )
    .option("--base-digest <hex>", "fail unless the base has this digest")
    .option(
      "--min-live <share>",
      "share of a base object that must be in use, 0 to 1; if less is, its data is stored again (default: 0.5)",
      parseShare,
    )
    .addOption(formatOption())
    .addOption(overwriteOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(create);
  addCacheOptions(
    command,
    "image cache; if it has the image of the base, the image is compared with that",
  );
  addTransferOptions(command);
}

async function create(image: string, place: string, flags: CreateFlags): Promise<void> {
  const { level, pieceSize, base, baseDigest, minLive, format, overwrite, workers } = flags;
  const delta = { base, baseDigest, minLive };
  const encoding = { level, pieceSize, format };
  const options = { ...encoding, overwrite, workers, ...delta, ...transferOf(flags) };
  const info = await doWork("create", (hooks) =>
    withCacheOf(flags, (cache) => createSnapshot(image, place, { ...options, cache, ...hooks })),
  );
  await printResult(info, flags);
}
