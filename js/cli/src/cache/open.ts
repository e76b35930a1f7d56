import { ImageCache } from "@hedgerow/snapshot";
import { Argument } from "commander";

export const directoryArgument = () =>
  new Argument("<directory>", "directory of an existing cache");

/** Calls `use` with an existing cache and closes it afterwards. Sets no size limit, to evict nothing. */
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
