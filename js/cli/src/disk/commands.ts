/** The commands of `hedgerow disk`; all but `open` have files of their own. */
import { resolve } from "node:path";
import type { Command } from "commander";

import { CliError } from "../error.js";
import { interruptible } from "../interrupt.js";
import { jsonOf, print } from "../print.js";
import { PLACE, parsePlace } from "../snapshot/options.js";
import { addAttachCommand } from "./attach.js";
import { addCollectCommand, addExpireCommand } from "./collect.js";
import {
  addCreateCommand,
  addForkCommand,
  addRemoveCommand,
  addRollbackCommand,
} from "./create.js";
import { addHistoryCommand, addListCommand, addStatCommand, addVerifyCommand } from "./inspect.js";
import { addMountCommand } from "./mount.js";
import {
  addDiskOptions,
  addListenOptions,
  type DiskFlags,
  type ListenFlags,
  serveOptionsOf,
  tracePlaceOf,
} from "./options.js";
import { addRecoverCommand } from "./recover.js";
import { addDetachCommand, addSaveCommand } from "./save.js";
import { serveDisk, untilAborted } from "./serve.js";

/** Adds `hedgerow disk …`. */
export function addDiskCommands(hedgerow: Command): void {
  const disk = hedgerow
    .command("disk")
    .description(
      "Disks: use a snapshot while its data is being fetched; keep named disks in a store",
    );
  addOpenCommand(disk);
  addMountCommand(disk);
  addCreateCommand(disk);
  addAttachCommand(disk);
  addSaveCommand(disk);
  addDetachCommand(disk);
  addListCommand(disk);
  addStatCommand(disk);
  addHistoryCommand(disk);
  addForkCommand(disk);
  addRollbackCommand(disk);
  addVerifyCommand(disk);
  addExpireCommand(disk);
  addCollectCommand(disk);
  addRemoveCommand(disk);
  addRecoverCommand(disk);
}

interface OpenFlags extends DiskFlags, ListenFlags {
  readonly image: string;
  readonly readOnly: boolean;
  readonly save?: string;
  readonly saveTrace: boolean;
}

/** Adds `hedgerow disk open`. */
function addOpenCommand(disk: Command): void {
  const command = disk
    .command("open")
    .description(
      "serve a snapshot as a disk until SIGTERM or SIGINT; prints its URI, or the path of the device",
    )
    .argument("<snapshot>", `snapshot to read: ${PLACE}`, parsePlace)
    .requiredOption(
      "--image <file>",
      "local image, which appears when it is complete; if it was opened before, it is continued",
      parsePlace,
    );
  addListenOptions(command)
    .option("--read-only", "refuse writes", false)
    .option("--save <place>", "delta of the changes, to write at the end", parsePlace)
    .option("--save-trace", "store at the end, where --trace says, what was read first", false)
    .action(open);
  addDiskOptions(command);
}

async function open(source: string, flags: OpenFlags): Promise<void> {
  const { image, readOnly, json, save, saveTrace } = flags;
  const serve = serveOptionsOf(flags);
  await interruptible((signal) =>
    serveDisk({ source, image, readOnly, serve, flags, signal }, async ({ disk, serving }) => {
      const { uri, device } = serving;
      const { digest, imageSize: size } = disk.info;
      const facts = { uri, device, path: resolve(image), digest, size };
      await print(json ? jsonOf(facts) : `${device ?? uri}\n`);
      const reason = await Promise.race([untilAborted(signal), serving.failed]);
      // The delta has everything that clients have written.
      await serving.stop();
      if (save !== undefined) await disk.save(save);
      if (saveTrace) await disk.saveTrace(tracePlaceOf(flags) || undefined);
      if (reason !== undefined) throw new CliError("ERR_OUTPUT", reason);
    }),
  );
}
