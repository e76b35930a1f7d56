/** Options of the commands of disks, and opening their store. */
import {
  DiskStore,
  type ListenOptions,
  type OpenOptions,
  type StoreOptions,
} from "@hedgerow/snapshot";
import { Argument, type Command, Option } from "commander";

import { CliError } from "../error.js";
import { jsonOption, type OutputFlags, parseSize, parseWhole } from "../options.js";
import {
  addCacheOptions,
  addTransferOptions,
  type CacheFlags,
  digestOption,
  parsePlace,
  type ReadFlags,
  STORE_PLACE,
  type TransferFlags,
  transferOf,
  type WorkFlags,
  workersOption,
} from "../snapshot/options.js";
import { DEVICES, type DeviceKind } from "./device.js";

/** Flags for the way in which the data of a disk arrives. */
export interface FillFlags {
  readonly fill: "all" | "none";
  readonly fillRate?: number;
  readonly onStall: "wait" | "error";
  /** The location of the trace, `false` for none, or `true` for the default. */
  readonly trace: string | boolean;
}

/** Flags of commands that open a snapshot as a disk. */
export interface DiskFlags extends FillFlags, ReadFlags, WorkFlags, CacheFlags, TransferFlags {}

/** Flags of commands that listen. */
export interface ListenFlags {
  readonly socket?: string;
  readonly port?: number;
  readonly exportName?: string;
  readonly serve: "nbd" | DeviceKind;
  readonly at?: string;
}

/** How a disk is served. */
export interface ServeOptions {
  readonly listen: ListenOptions;
  /** What an engine makes of the export. */
  readonly device?: { readonly kind: DeviceKind; readonly path: string } | undefined;
}

/** Adds the options of commands that listen. */
export function addListenOptions(command: Command): Command {
  return command
    .option("--socket <path>", "Unix socket to listen on, for this user only")
    .option("--port <number>", "port of 127.0.0.1 to listen on instead; 0 for any", parseWhole)
    .option(
      "--export-name <text>",
      "name that clients must ask for, so that none reaches another disk (default: the default export)",
    )
    .addOption(
      new Option("--serve <kind>", "what to serve the disk as: all but nbd start an engine")
        .choices(["nbd", ...DEVICES])
        .default("nbd"),
    )
    .option(
      "--at <path>",
      "socket of vhost-user-blk, device such as /dev/nbd0, or file to serve at",
    );
}

/** Converts the flags of commands that listen. @throws {CliError} `ERR_USAGE` */
export function serveOptionsOf(flags: ListenFlags): ServeOptions {
  const { socket, port, exportName: name, serve, at } = flags;
  const listen = { path: socket, port, name };
  if ((serve === "nbd") !== (at === undefined)) {
    const expected =
      at === undefined ? `--serve ${serve}: expected --at` : "--at: expected --serve";
    throw new CliError("ERR_USAGE", `${expected}, too`);
  }
  if (serve !== "nbd" && at !== undefined) {
    if (port === undefined) return { listen, device: { kind: serve, path: at } };
    throw new CliError("ERR_USAGE", "--port: expected --serve nbd");
  }
  if ((socket === undefined) === (port === undefined)) {
    const found = socket === undefined ? "neither" : "both";
    throw new CliError("ERR_USAGE", `--socket and --port: expected one of them, found ${found}`);
  }
  return { listen };
}

/** Adds the options for the way in which the data of a disk arrives. */
export function addFillOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--fill <what>", "what to fetch in the background")
        .choices(["all", "none"])
        .default("all"),
    )
    .option(
      "--fill-rate <size>",
      "maximum rate of the fill, in bytes per second, such as 50MiB (default: unlimited)",
      parseSize,
    )
    .option(
      "--trace <place>",
      "list of what an earlier disk read first; it is fetched first (default: beside the snapshot, with the suffix .trace)",
      parsePlace,
    )
    .option("--no-trace", "do not look for a trace")
    .addOption(
      new Option("--on-stall <action>", "what readers do while the server fails")
        .choices(["wait", "error"])
        .default("wait"),
    );
}

/** Adds the options of all commands that open a snapshot as a disk, after those of the command itself. */
export function addDiskOptions(command: Command): void {
  addFillOptions(command)
    .addOption(digestOption())
    .addOption(workersOption())
    .addOption(jsonOption());
  addCacheOptions(command, "image cache that may have the image of a base of the snapshot");
  addTransferOptions(command);
}

/** Converts the flags to options of `openSnapshot`, without the cache. */
export function openOptionsOf(flags: DiskFlags): Omit<OpenOptions, "image"> {
  const { digest, workers } = flags;
  return { digest, workers, ...fillOptionsOf(flags), ...transferOf(flags) };
}

/** Converts the flags for the way in which the data of a disk arrives. */
export function fillOptionsOf(flags: FillFlags) {
  const { fill, fillRate: fillBytesPerSecond, onStall } = flags;
  return { fill, fillBytesPerSecond, onStall, trace: tracePlaceOf(flags) };
}

/** Returns the location of the trace; `false` for none, and undefined for the default. */
export function tracePlaceOf({ trace }: FillFlags): string | false | undefined {
  return trace === true ? undefined : trace;
}

/** Flags of every command that opens a store. */
export interface StoreFlags extends OutputFlags, TransferFlags {
  readonly images?: string;
}

export const storeArgument = () =>
  new Argument("<store>", `store of disks: ${STORE_PLACE}`).argParser(parsePlace);

export const nameArgument = () => new Argument("<name>", "name of the disk");

export const imagesOption = () =>
  new Option(
    "--images <directory>",
    "directory of the local images (default: hedgerow/disks in XDG_STATE_HOME or ~/.local/state; with --cache, the directory of the cache with the suffix -disks)",
  );

/** Flags of commands that take a generation. */
export interface GenerationFlags extends StoreFlags {
  readonly generation?: number;
}

export const generationOption = () =>
  new Option("--generation <number>", "number of a generation (default: the last one)").argParser(
    parseWhole,
  );

export const labelOption = () => new Option("--label <text>", "note on the generation");

export const dryRunOption = (what: string) =>
  new Option("--dry-run", `only print what would be ${what}`).default(false);

/** Opens a store. By default, it must exist. */
export function openStore(
  place: string,
  flags: StoreFlags,
  options: StoreOptions = {},
): Promise<DiskStore> {
  const { headers: _, ...transfer } = transferOf(flags);
  return DiskStore.open(place, { create: false, images: flags.images, ...transfer, ...options });
}
