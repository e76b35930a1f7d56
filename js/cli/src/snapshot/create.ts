import { createSnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { jsonOption, type OutputFlags, parseSize, parseWhole } from "../options.js";
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
  const { level, pieceSize, base, baseDigest, format, overwrite, workers } = flags;
  const encoding = { level, pieceSize, base, baseDigest, format };
  const options = { ...encoding, overwrite, workers, ...transferOf(flags) };
  const info = await doWork("create", (hooks) =>
    withCacheOf(flags, (cache) => createSnapshot(image, place, { ...options, cache, ...hooks })),
  );
  await printResult(info, flags);
}
