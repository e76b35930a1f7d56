/** The command that attaches a disk of a store, and its hooks. */
import type { AttachOptions, Duration, Hook } from "@hedgerow/snapshot";
import { type Command, InvalidArgumentError, Option } from "commander";

import { startEngine } from "../engine.js";
import { interruptible } from "../interrupt.js";
import { jsonOption, parseDuration } from "../options.js";
import {
  addCacheOptions,
  addStoreTransferOptions,
  type CacheFlags,
  openCache,
  type WorkFlags,
  workersOption,
} from "../snapshot/options.js";
import { type Mount, serveAttached } from "./attached.js";
import {
  addFillOptions,
  addListenOptions,
  type FillFlags,
  fillOptionsOf,
  imagesOption,
  type ListenFlags,
  nameArgument,
  openStore,
  type StoreFlags,
  serveOptionsOf,
  storeArgument,
} from "./options.js";
import { warnOfFullDisks } from "./serve.js";

interface AttachFlags extends StoreFlags, ListenFlags, FillFlags, WorkFlags, CacheFlags {
  readonly steal: boolean;
  readonly mount?: readonly Mount[];
  readonly saveEvery?: Duration;
  readonly freeze?: string;
  readonly thaw?: string;
  readonly hookTimeout?: Duration;
  readonly deadline: number;
}

/** Adds `hedgerow disk attach`. */
export function addAttachCommand(disk: Command): void {
  const command = disk
    .command("attach")
    .description(
      "attach a disk and serve it until SIGTERM or SIGINT, then save and detach it; prints its URI, or the path of the device",
    )
    .addArgument(storeArgument())
    .addArgument(nameArgument());
  addListenOptions(command)
    .option(
      "--mount <volume=path>",
      "path at which to present a volume, such as memory=alice.ram: by nbdfuse, or by a link if it is a file (repeatable)",
      parseMount,
    )
    .option("--steal", "take the disk from another host, which can no longer save it", false)
    .option(
      "--save-every <duration>",
      "how often to save the disk if it has changed, such as 5m (default: only at the end)",
    )
    .option("--freeze <command>", "shell command to run before a save copies the last changes")
    .option("--thaw <command>", "shell command to run after that, even if --freeze has failed")
    .option("--hook-timeout <duration>", "time limit of --freeze and of --thaw (default: 10s)")
    .addOption(
      new Option("--deadline <duration>", "time limit of saving and detaching at the end")
        .argParser(parseDuration)
        .default(parseDuration("5m"), "5m"),
    )
    .addOption(imagesOption());
  addFillOptions(command).addOption(workersOption()).addOption(jsonOption()).action(attach);
  addCacheOptions(command, "image cache that may have the image of a base of the snapshot");
  addStoreTransferOptions(command);
}

async function attach(place: string, name: string, flags: AttachFlags): Promise<void> {
  const { deadline, json, mount: mounts = [] } = flags;
  const serve = serveOptionsOf(flags);
  warnOfFullDisks();
  await interruptible(async (signal) => {
    await using cache = await openCache(flags);
    await using store = await openStore(place, flags, { cache, signal });
    const disk = await store.attach(name, { ...optionsOf(name, flags), signal });
    await serveAttached(disk, { place, serve, mounts, deadline, json, signal });
  });
}

function optionsOf(name: string, flags: AttachFlags): AttachOptions {
  const { steal, saveEvery, hookTimeout, workers } = flags;
  const hooks = { freeze: hookOf(flags.freeze, name), thaw: hookOf(flags.thaw, name), hookTimeout };
  return { steal, saveEvery, workers, ...hooks, ...fillOptionsOf(flags) };
}

/** Adds a mount to those before. */
function parseMount(text: string, before: readonly Mount[] = []): Mount[] {
  const [, volume, path] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (volume !== undefined && path !== undefined) return [...before, { volume, path }];
  throw new InvalidArgumentError("expected <volume>=<path>");
}

/**
 * Returns a hook that runs a shell command, with the name of the disk in `HEDGEROW_DISK`. If it takes too long, it is
 * killed together with the programs that it has started.
 */
function hookOf(command: string | undefined, name: string): Hook | undefined {
  if (command === undefined) return undefined;
  return async (signal) => {
    const { kill, ended } = startEngine("sh", ["-c", command], { env: { HEDGEROW_DISK: name } });
    signal.addEventListener("abort", kill, { once: true });
    const reason = await ended;
    signal.removeEventListener("abort", kill);
    if (reason !== undefined) throw new Error(reason);
  };
}
