import { createSnapshot } from "@hedgerow/snapshot";
import type { Command } from "commander";

import {
  jsonOption,
  type OutputFlags,
  parseFile,
  parseSize,
  parseWhole,
  type WorkFlags,
  workersOption,
} from "./options.js";
import { printResult } from "./result.js";
import { doWork } from "./work.js";

interface CreateFlags extends OutputFlags, WorkFlags {
  readonly level?: number;
  readonly pieceSize?: number;
}

/** Adds `hedgerow snapshot create`. */
export function addCreateCommand(snapshot: Command): void {
  snapshot
    .command("create")
    .description("make a snapshot of a disk image")
    .argument("<image>", "the image; it must not change meanwhile", parseFile)
    .argument("<file.vhs>", "the snapshot", parseFile)
    .option("--level <number>", "of zstd's compression, 1 to 19 (default: 3)", parseWhole)
    .option(
      "--piece-size <size>",
      "what a frame holds at most, 4KiB to 16MiB, a power of two (default: 1MiB)",
      parseSize,
    )
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(create);
}

async function create(image: string, file: string, flags: CreateFlags): Promise<void> {
  const { level, pieceSize, workers } = flags;
  const info = await doWork("create", (hooks) =>
    createSnapshot(image, file, { level, pieceSize, workers, ...hooks }),
  );
  await printResult(info, flags);
}
