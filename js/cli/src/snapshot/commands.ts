/** The commands of `hedgerow snapshot`, and how they print their results. */
import {
  createSnapshot,
  type DeltaResult,
  flattenSnapshot,
  inspectSnapshot,
  type RestoreInfo,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { jsonOption, parseSize, parseWhole } from "../options.js";
import { escapeControls, grouped, jsonOf, print, size, table } from "../print.js";
import { doWork } from "../progress.js";
import {
  addCacheOptions,
  addTransferOptions,
  type CacheFlags,
  digestOption,
  formatOption,
  openCache,
  overwriteOption,
  PLACE,
  parsePlace,
  type ReadFlags,
  type TransferFlags,
  transferOf,
  type WorkFlags,
  type WriteFlags,
  workersOption,
} from "./options.js";

/** Adds `hedgerow snapshot …`. */
export function addSnapshotCommands(hedgerow: Command): void {
  const snapshot = hedgerow
    .command("snapshot")
    .description("Snapshots: disk images as compressed files that restore in parallel");
  addCreateCommand(snapshot);
  addRestoreCommand(snapshot);
  addFlattenCommand(snapshot);
  addInfoCommand(snapshot);
  addVerifyCommand(snapshot);
}

/** The flags of all commands; each command has some of them. */
interface Flags extends ReadFlags, WorkFlags, WriteFlags, CacheFlags, TransferFlags {
  readonly level?: number;
  readonly pieceSize?: number;
  readonly base?: string;
  readonly baseDigest?: string;
  readonly overlay?: boolean;
  readonly verify?: boolean;
  readonly format?: "raw";
  readonly resume?: boolean;
}

/** Adds `hedgerow snapshot create`. */
function addCreateCommand(snapshot: Command): void {
  const command = snapshot
    .command("create")
    .description("create a snapshot of a disk image")
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
      "create a delta: store only what differs from this snapshot or delta",
      parsePlace,
    )
    .option("--base-digest <identity>", "fail unless the base has this identity")
    .option(
      "--overlay",
      "the image is sparse: its holes stand for data of the base, as in diff snapshots of Firecracker",
    )
    .option("--verify", "decode every frame and compare it with the image (default: a sample)")
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

async function create(image: string, place: string, flags: Flags): Promise<void> {
  const { level, pieceSize, base, baseDigest, overlay, verify, format, overwrite, workers } = flags;
  const encoding = { level, pieceSize, base, baseDigest, overlay, verify, format };
  const options = { ...encoding, overwrite, workers, ...transferOf(flags) };
  const info = await doWork("create", async (hooks) => {
    await using cache = await openCache(flags);
    return await createSnapshot(image, place, { ...options, cache, ...hooks });
  });
  await printResult(info, flags);
}

/** Adds `hedgerow snapshot restore`. */
function addRestoreCommand(snapshot: Command): void {
  const command = snapshot
    .command("restore")
    .description("restore a disk image from a snapshot")
    .argument("<snapshot>", `snapshot to read: ${PLACE}`, parsePlace)
    .argument("<image>", "image to write; holes stay holes", parsePlace)
    .addOption(digestOption())
    .option(
      "--resume",
      "continue an interrupted restore, and keep its state if this one ends",
      false,
    )
    .addOption(overwriteOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(restore);
  addCacheOptions(
    command,
    "image cache to restore through; a cached image is copied from it (disables --resume)",
  );
  addTransferOptions(command);
}

async function restore(place: string, image: string, flags: Flags): Promise<void> {
  const { digest, resume, overwrite, workers } = flags;
  const options = { digest, resume, overwrite, workers, ...transferOf(flags) };
  const { hit, ...info } = await doWork("restore", async (hooks) => {
    await using cache = await openCache(flags);
    return await restoreSnapshot(place, image, { ...options, cache, ...hooks });
  });
  await printResult(flags.cache === undefined ? info : { ...info, hit }, flags);
}

/** Adds `hedgerow snapshot flatten`. */
function addFlattenCommand(snapshot: Command): void {
  const command = snapshot
    .command("flatten")
    .description("create a full snapshot of a delta")
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

async function flatten(source: string, destination: string, flags: Flags): Promise<void> {
  const { level, pieceSize, digest, overwrite, workers } = flags;
  const options = { level, pieceSize, digest, overwrite, workers, ...transferOf(flags) };
  const info = await doWork("restore", (hooks) =>
    flattenSnapshot(source, destination, { ...options, ...hooks }),
  );
  await printResult(info, flags);
}

/** Adds `hedgerow snapshot info`. */
function addInfoCommand(snapshot: Command): void {
  const command = snapshot
    .command("info")
    .description("print the sizes and the identity of a snapshot; reads only its tail")
    .argument("<snapshot>", `snapshot to read: ${PLACE}`, parsePlace)
    .addOption(digestOption())
    .addOption(jsonOption())
    .action(inspect);
  addTransferOptions(command);
}

async function inspect(place: string, flags: Flags): Promise<void> {
  const { digest } = flags;
  await printResult(await inspectSnapshot(place, { digest, ...transferOf(flags) }), flags);
}

/** Adds `hedgerow snapshot verify`. */
function addVerifyCommand(snapshot: Command): void {
  const command = snapshot
    .command("verify")
    .description("check every byte of a snapshot")
    .argument("<snapshot>", `snapshot to read: ${PLACE}`, parsePlace)
    .addOption(digestOption())
    .addOption(workersOption())
    .addOption(jsonOption())
    .action(verify);
  addTransferOptions(command);
}

async function verify(place: string, flags: Flags): Promise<void> {
  const { digest, workers } = flags;
  const options = { digest, workers, ...transferOf(flags) };
  const info = await doWork("verify", (hooks) => verifySnapshot(place, { ...options, ...hooks }));
  await printResult(info, flags);
}

/** The result of a command, with its duration, cache hit and changes where it reports them. */
type Result = SnapshotInfo & Partial<Pick<RestoreInfo, "duration" | "hit">> & Partial<DeltaResult>;

/** Prints a result as a table or as one JSON object. */
async function printResult(result: Result, { json }: { json: boolean }): Promise<void> {
  const rows = [facts, delta, changes, cached, speed].map((rowsOf) => rowsOf(result));
  await print(json ? jsonOf(result) : table(Object.assign({}, ...rows)));
}

function facts(info: SnapshotInfo): Record<string, string> {
  const { dataSize, fileSize, dataFrames, holeFrames } = info;
  return {
    "image size": size(info.imageSize),
    data: size(dataSize),
    holes: size(info.holeSize),
    "file size": size(fileSize),
    frames: `${grouped(dataFrames + holeFrames)} (data ${grouped(dataFrames)}, holes ${grouped(holeFrames)})`,
    ratio: `${(dataSize / fileSize).toFixed(2)} (data / file)`,
    "piece size": size(info.pieceSize, { binary: true }),
    identity: info.digest,
  };
}

function delta({ delta }: Result): Record<string, string> {
  if (delta === undefined) return {};
  const objects = delta.objects.map(({ digest, size: bytes, usedBytes, reference }, at) => {
    const place = reference === "" ? "elsewhere" : escapeControls(reference);
    return [`object ${at + 1}`, `${digest}, ${size(bytes)}, used ${size(usedBytes)}: ${place}`];
  });
  return {
    depth: grouped(delta.depth),
    "own frames": size(delta.ownBytes),
    "shared frames": size(delta.sharedBytes),
    ...Object.fromEntries(objects),
  };
}

function changes({ detection, changedBytes, rewrittenBytes }: Result): Record<string, string> {
  if (changedBytes === undefined || rewrittenBytes === undefined) return {};
  return {
    changed: `${size(changedBytes)}, found by ${detection}`,
    ...(rewrittenBytes > 0 ? { rewritten: size(rewrittenBytes) } : {}),
  };
}

function cached({ hit }: Result): Record<string, string> {
  return hit === undefined ? {} : { cache: hit ? "hit" : "miss" };
}

function speed({ dataSize, duration }: Result): Record<string, string> {
  if (duration === undefined) return {};
  const seconds = duration / 1000;
  return {
    time: `${grouped(Number(seconds.toPrecision(3)))} s`,
    rate: `${prettyBytes(dataSize / seconds)}/s (data)`,
  };
}
