/** The command `hedgerow image`. */
import { link, lstat, open, realpath, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

import { createSnapshot, type SnapshotInfo } from "@hedgerow/snapshot";
import { type Command, InvalidArgumentError, Option } from "commander";

import { CliError, messageOf, systemCode } from "../error.js";
import { checkWritable } from "../files/output.js";
import { interruptible } from "../interrupt.js";
import { jsonOption, type OutputFlags, parseSize, parseWhole } from "../options.js";
import { escapeControls, jsonOf, print, size, table } from "../print.js";
import { progressLine, spinnerColumns, startSpinner } from "../progress.js";
import {
  addTransferOptions,
  overwriteOption,
  PLACE,
  parsePlace,
  type TransferFlags,
  transferOf,
  type WorkFlags,
  type WriteFlags,
  workersOption,
} from "../snapshot/options.js";
import { createImage, type ImageInfo, isSnapshotPlace } from "./create.js";
import type { Platform } from "./layout.js";
import { openWorkspace } from "./workspace.js";

interface Flags extends OutputFlags, WorkFlags, WriteFlags, TransferFlags {
  readonly format: "ext4" | "erofs";
  readonly free: number;
  readonly base?: string;
  readonly platform: Platform;
  readonly level?: number;
}

/** Names of processors in images, where Node has others. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

const HOST: Platform = {
  os: "linux",
  architecture: ARCHITECTURES[process.arch] ?? process.arch,
  variant: undefined,
};

/** Adds `hedgerow image …`. */
export function addImageCommands(hedgerow: Command): void {
  const image = hedgerow
    .command("image")
    .description("Disk images of images of containers, of folders and of archives");
  const command = image
    .command("create")
    .description("create a disk image with a file system; the same source gives the same image")
    .argument(
      "<source>",
      "oci:DIRECTORY[:TAG], docker://NAME, a file of docker save or podman save, a tar archive of files, or a folder",
      parsePlace,
    )
    .argument(
      "<destination>",
      `image to write; a snapshot if its name ends in .vhs or is a URL: ${PLACE}`,
      parsePlace,
    )
    .addOption(
      new Option("--format <format>", "file system; erofs is read-only, and needs root")
        .choices(["ext4", "erofs"])
        .default("ext4"),
    )
    .addOption(
      new Option("--free <size>", "space to leave free")
        .argParser(parseSize)
        .default(2 * 2 ** 30, "2GiB"),
    )
    .option(
      "--base <image>",
      "image or snapshot of the first layers: the others change it, and a snapshot becomes a delta of it",
      parsePlace,
    )
    .addOption(
      new Option("--platform <platform>", "operating system and processor, such as linux/arm64")
        .argParser(parsePlatform)
        .default(HOST, "that of this machine"),
    )
    .option("--level <number>", "zstd compression level of a snapshot, 1 to 19", parseWhole)
    .addOption(overwriteOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(create);
  addTransferOptions(command);
}

function parsePlatform(text: string): Platform {
  const [os, architecture, variant, ...rest] = text.split("/");
  if (os && architecture && variant !== "" && rest.length === 0) {
    return { os, architecture, variant };
  }
  throw new InvalidArgumentError("expected a platform, such as linux/arm64");
}

async function create(source: string, destination: string, flags: Flags): Promise<void> {
  const isSnapshot = isSnapshotPlace(destination);
  const isLocal = !destination.includes("://");
  if (flags.base !== undefined && flags.format !== "ext4") {
    throw new CliError("ERR_USAGE", "--base: expected --format ext4, found erofs");
  }
  const target = isLocal ? await resolveDestination(destination, flags) : destination;
  const result = await interruptible(async (signal) => {
    const spinner = await startSpinner("opening the source");
    try {
      await using workspace = await openWorkspace(isLocal ? dirname(target) : tmpdir());
      const image = await createImage(source, {
        folder: workspace.path,
        platform: flags.platform,
        format: flags.format,
        free: flags.free,
        base: flags.base,
        transfer: transferOf(flags),
        signal,
        onProgress: (doing) => {
          spinner.text = doing;
        },
      });
      if (!isSnapshot) {
        await publish(image.path, target, flags);
        return { image };
      }
      const { base, level, overwrite, workers } = flags;
      const snapshot = await createSnapshot(image.path, target, {
        base: base !== undefined && isSnapshotPlace(base) ? base : undefined,
        level,
        overwrite,
        workers,
        ...transferOf(flags),
        signal,
        onProgress: (progress) => {
          spinner.text = progressLine(progress, spinnerColumns());
        },
      });
      return { image, snapshot };
    } finally {
      spinner.stop();
    }
  });
  await printResult(result, flags);
}

/** Returns the path to write to, with links resolved. Throws if it cannot be written, before anything is read. */
async function resolveDestination(destination: string, { overwrite }: Flags): Promise<string> {
  checkWritable(destination);
  const found = await lstat(destination).catch(() => undefined);
  if (found === undefined) return destination;
  if (!overwrite) throw existing(destination);
  const target = await realpath(destination).catch(() => undefined);
  if (target !== undefined) return target;
  const message = `${destination}: expected a file or nothing, found a dangling link`;
  throw new CliError("ERR_OUTPUT", message);
}

/** Gives a complete image its name. */
async function publish(path: string, destination: string, { overwrite }: Flags): Promise<void> {
  try {
    await using file = await open(path);
    await file.chmod(0o600);
    await file.sync();
    if (overwrite) await rename(path, destination);
    else await renameNew(path, destination);
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw existing(destination);
    throw new CliError("ERR_OUTPUT", `cannot write ${destination}: ${messageOf(error)}`);
  }
}

/** Renames a file unless something has the new name. On file systems without links, an empty file takes the name first. */
async function renameNew(path: string, destination: string): Promise<void> {
  const isLinked = await link(path, destination).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === "EEXIST") throw error;
      return false;
    },
  );
  if (isLinked) return rm(path);
  await (await open(destination, "wx")).close();
  try {
    await rename(path, destination);
  } catch (error) {
    await rm(destination, { force: true });
    throw error;
  }
}

const existing = (destination: string) =>
  new CliError("ERR_OUTPUT", `${destination} exists: omit --no-overwrite to replace it`);

interface Result {
  readonly image: ImageInfo;
  readonly snapshot?: SnapshotInfo;
}

async function printResult({ image, snapshot }: Result, { json }: Flags): Promise<void> {
  const { imageSize, config } = image;
  if (json) return await print(jsonOf({ imageSize, config, snapshot }));
  const command = [...(config?.entrypoint ?? []), ...(config?.cmd ?? [])];
  const rows = {
    "image size": size(imageSize),
    ...(command.length === 0 ? {} : { command: escapeControls(command.join(" ")) }),
    ...(snapshot === undefined
      ? {}
      : { "file size": size(snapshot.fileSize), identity: snapshot.digest }),
  };
  await print(table(rows));
}
