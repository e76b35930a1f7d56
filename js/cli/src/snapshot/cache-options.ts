import { ImageCache } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { CliError } from "../error.js";
import { parseSize } from "../options.js";

/** Flags that name an image cache. */
export interface CacheFlags {
  readonly cache?: string;
  readonly cacheMaxBytes?: number;
}

/** Adds the cache options to a command, in a help section of their own. @param use the description of `--cache` */
export function addCacheOptions(command: Command, use: string): void {
  command
    .optionsGroup("Cache options:")
    .option("--cache <directory>", use)
    .option(
      "--cache-max-bytes <size>",
      "size limit of the cache on disk, at least 1MiB, such as 10GiB",
      parseSize,
    );
}

/** Calls `use` with the cache that the flags name, if any, and closes it afterwards. */
export async function withCacheOf<T>(
  { cache: directory, cacheMaxBytes: maxBytes }: CacheFlags,
  use: (cache: ImageCache | undefined) => Promise<T>,
): Promise<T> {
  if (directory === undefined && maxBytes === undefined) return use(undefined);
  if (directory === undefined || maxBytes === undefined) {
    const message = "--cache and --cache-max-bytes: expected both or neither, found one";
    throw new CliError("ERR_USAGE", message);
  }
  const cache = await ImageCache.open(directory, { maxBytes });
  try {
    return await use(cache);
  } finally {
    await cache.close();
  }
}
