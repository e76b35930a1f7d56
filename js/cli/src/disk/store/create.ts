import type { Command } from "commander";

import { CliError } from "../../error.js";
import { jsonOption, parseSize } from "../../options.js";
import {
  digestOption,
  formatOption,
  PLACE,
  parsePlace,
  type ReadFlags,
  type WorkFlags,
  workersOption,
} from "../../snapshot/options.js";
import { addTransferOptions, transferOf } from "../../snapshot/transfer-options.js";
import { doWork } from "../../snapshot/work.js";
import { printGeneration } from "./generation.js";
import { labelOption, nameArgument, type StoreFlags, storeArgument, withStore } from "./open.js";

interface CreateFlags extends StoreFlags, ReadFlags, WorkFlags {
  readonly from?: string;
  readonly image?: string;
  readonly size?: number;
  readonly format?: "raw";
  readonly label?: string;
}

/** Adds `hedgerow disk create`. */
export function addCreateCommand(disk: Command): void {
  const command = disk
    .command("create")
    .description("create a disk, and the store if there is none")
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .option("--from <place>", `snapshot to begin with, which is copied: ${PLACE}`, parsePlace)
    .option("--image <file>", "disk image to begin with; it must not change meanwhile", parsePlace)
    .addOption(formatOption())
    .option("--size <size>", "size of an empty disk, such as 10GiB", parseSize)
    .addOption(digestOption())
    .addOption(labelOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(create);
  addTransferOptions(command);
}

async function create(place: string, name: string, flags: CreateFlags): Promise<void> {
  const { from, image, size, format, digest, label, workers } = flags;
  const count = [from, image, size].filter((content) => content !== undefined).length;
  if (count !== 1) {
    const found = count === 0 ? "none" : `${count}`;
    const message = `--from, --image and --size: expected one of them, found ${found}`;
    throw new CliError("ERR_USAGE", message);
  }
  const { headers } = transferOf(flags);
  const options = { from, image, size, format, digest, label, workers, headers };
  const generation = await doWork("create", ({ signal, onProgress }) =>
    withStore(place, flags, (store) => store.create(name, { ...options, signal, onProgress }), {
      ...{ create: true, signal },
    }),
  );
  await printGeneration(generation, flags);
}
