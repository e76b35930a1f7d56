/** The commands of `hedgerow cache`. */
import { type CacheEntry, ImageCache } from "@hedgerow/snapshot";
import { Argument, type Command } from "commander";
import prettyBytes from "pretty-bytes";

import { CliError, EXIT } from "./error.js";
import { jsonOption, type OutputFlags, parseSize } from "./options.js";
import {
  columns,
  grouped,
  jsonOf,
  oneLine,
  print,
  shortIdentity,
  size,
  table,
  utc,
} from "./print.js";
import { doWork } from "./progress.js";

/** Adds `hedgerow cache …`. */
export function addCacheCommands(hedgerow: Command): void {
  const cache = hedgerow
    .command("cache")
    .description("Image caches: inspect and manage a cache directory while programs use it");
  addListCommand(cache);
  addStatsCommand(cache);
  addVerifyCommand(cache);
  addPruneCommand(cache);
}

const directoryArgument = () => new Argument("<directory>", "directory of an existing cache");

/** Opens an existing cache. Sets no size limit, to evict nothing. */
function openCache(directory: string): Promise<ImageCache> {
  return ImageCache.open(directory, { create: false, maxBytes: Number.MAX_SAFE_INTEGER });
}

/** Adds `hedgerow cache list`. */
function addListCommand(cache: Command): void {
  cache
    .command("list")
    .description("list images, most recently used first")
    .addArgument(directoryArgument())
    .addOption(jsonOption())
    .action(list);
}

async function list(directory: string, { json }: OutputFlags): Promise<void> {
  await using cache = await openCache(directory);
  const entries = await cache.entries();
  await print(json ? jsonOf({ entries }) : columns([LIST_HEAD, ...entries.map(entryRow)]));
}

const LIST_HEAD = ["identity", "on disk", "image size", "last used", "source"];

function entryRow({ digest, bytes, imageSize, lastUsed, source }: CacheEntry): string[] {
  const sizes = [prettyBytes(bytes), prettyBytes(imageSize)];
  return [shortIdentity(digest), ...sizes, utc(lastUsed), oneLine(source)];
}

/** Adds `hedgerow cache stats`. */
function addStatsCommand(cache: Command): void {
  cache
    .command("stats")
    .description("print the size of the cache and the counters of all programs that use it")
    .addArgument(directoryArgument())
    .addOption(jsonOption())
    .action(printStats);
}

async function printStats(directory: string, { json }: OutputFlags): Promise<void> {
  await using cache = await openCache(directory);
  const { entries, bytes, totals } = await cache.stats();
  if (json) {
    await print(jsonOf({ entries, bytes, ...totals }));
    return;
  }
  const { hits, misses, fills, failures, evictions, damaged } = totals;
  const all = hits + misses;
  const rows = {
    images: grouped(entries),
    "on disk": size(bytes),
    hits: all === 0 ? "0" : `${grouped(hits)} (${((100 * hits) / all).toFixed(1)} %)`,
    misses: grouped(misses),
    fills: `${grouped(fills)} (${grouped(failures)} failed)`,
    evictions: grouped(evictions),
    damaged: grouped(damaged),
  };
  await print(table(rows));
}

interface VerifyFlags extends OutputFlags {
  readonly bytesPerSecond?: number;
}

/** Adds `hedgerow cache verify`. */
function addVerifyCommand(cache: Command): void {
  cache
    .command("verify")
    .description("read all images and remove damaged ones")
    .addArgument(directoryArgument())
    .option(
      "--bytes-per-second <size>",
      "maximum read rate per second, such as 100MiB (default: unlimited)",
      parseSize,
    )
    .addOption(jsonOption())
    .action(verify);
}

async function verify(directory: string, { json, bytesPerSecond }: VerifyFlags): Promise<void> {
  const found = await doWork("verify", async ({ signal }) => {
    await using cache = await openCache(directory);
    return await cache.verify({ signal, bytesPerSecond });
  });
  const { good, damaged } = found;
  const identities = damaged.map((identity) => `${identity}\n`).join("");
  const rows = { good: grouped(good), damaged: grouped(damaged.length) };
  await print(json ? jsonOf(found) : table(rows) + identities);
  process.exitCode = damaged.length > 0 ? EXIT.damaged : EXIT.done;
}

interface PruneFlags extends OutputFlags {
  readonly maxBytes?: number;
  readonly all: boolean;
}

/** Adds `hedgerow cache prune`. */
function addPruneCommand(cache: Command): void {
  cache
    .command("prune")
    .description("evict the least recently used images")
    .addArgument(directoryArgument())
    .option(
      "--max-bytes <size>",
      "disk space to shrink the directory to, such as 10GiB; images in use stay",
      parseSize,
    )
    .option("--all", "remove all images; those in use keep their space until released", false)
    .addOption(jsonOption())
    .action(prune);
}

async function prune(directory: string, { json, maxBytes, all }: PruneFlags): Promise<void> {
  if ((maxBytes === undefined) !== all) {
    const found = all ? "both" : "neither";
    throw new CliError("ERR_USAGE", `--max-bytes and --all: expected one of them, found ${found}`);
  }
  await using cache = await openCache(directory);
  const before = (await cache.stats()).bytes;
  const images =
    maxBytes === undefined ? await cache.clear() : (await cache.prune(maxBytes)).images;
  const left = (await cache.stats()).bytes;
  const bytes = Math.max(before - left, 0);
  const rows = {
    "evicted images": grouped(images),
    "evicted size": size(bytes),
    "left on disk": size(left),
  };
  await print(json ? jsonOf({ images, bytes, left }) : table(rows));
}
