import type { CacheEntry } from "@hedgerow/snapshot";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { jsonOf, oneLine } from "../one-line.js";
import { jsonOption, type OutputFlags } from "../options.js";
import { columns, print, shortIdentity, utc } from "../print.js";
import { directoryArgument, withCache } from "./open.js";

/** Adds `hedgerow cache list`. */
export function addListCommand(cache: Command): void {
  cache
    .command("list")
    .description("list images, most recently used first")
    .addArgument(directoryArgument())
    .addOption(jsonOption())
    .action(list);
}

async function list(directory: string, { json }: OutputFlags): Promise<void> {
  const entries = await withCache(directory, (cache) => cache.entries());
  await print(json ? jsonOf({ entries }) : columns([HEAD, ...entries.map(rowOf)]));
}

const HEAD = ["identity", "on disk", "image size", "last used", "source"];

function rowOf({ digest, bytes, imageSize, lastUsed, source }: CacheEntry): string[] {
  const sizes = [prettyBytes(bytes), prettyBytes(imageSize)];
  return [shortIdentity(digest), ...sizes, utc(lastUsed), oneLine(source)];
}
