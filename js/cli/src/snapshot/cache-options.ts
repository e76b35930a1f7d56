import { ImageCache } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { CliError } from "../error.js";
import { parseSize } from "../options.js";

/** What can be told of a cache of images. */
export interface CacheFlags {
  readonly cache?: string;
  readonly cacheMaxBytes?: number;
}

/** Adds the options of a cache to a command, below its others. */
export function addCacheOptions(command: Command): void {
  command
    .optionsGroup("Options of a cache:")
    .option(
      "--cache <directory>",
      "keep the image here, and copy it from here if it is there already; --resume changes nothing then",
    )
    .option(
      "--cache-max-bytes <size>",
      "what the cache may take on the disk, 1MiB or more, such as 10GiB",
      parseSize,
    );
}

/** Has `use` do something with the cache that the flags say, if they do. It is open meanwhile. */
export async function withCacheOf<T>(
  { cache: directory, cacheMaxBytes: maxBytes }: CacheFlags,
  use: (cache: ImageCache | undefined) => Promise<T>,
): Promise<T> {
  if (directory === undefined && maxBytes === undefined) return use(undefined);
  if (directory === undefined || maxBytes === undefined) {
    const message = "--cache and --cache-max-bytes: expected both, or none of them";
    throw new CliError("ERR_USAGE", message);
  }
  const cache = await ImageCache.open(directory, { maxBytes });
  try {
    return await use(cache);
  } finally {
    await cache.close();
  }
}
