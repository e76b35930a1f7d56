import { ImageCache } from "@hedgerow/snapshot";
import { Argument } from "commander";

export const directoryArgument = () =>
  new Argument("<directory>", "the directory of the cache, as programs have made it");

/** Opens a cache that is there, for as long as `use` needs it. How large it may be is for others to say. */
export async function withCache<T>(
  directory: string,
  use: (cache: ImageCache) => Promise<T>,
): Promise<T> {
  const options = { create: false, maxBytes: Number.MAX_SAFE_INTEGER };
  const cache = await ImageCache.open(directory, options);
  try {
    return await use(cache);
  } finally {
    await cache.close();
  }
}
