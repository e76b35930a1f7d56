import { withFile } from "../../local/system-failure.js";
import type { Layout } from "./layout.js";

/** The result of changing what is in a cache. What the system refuses is told as `ERR_CACHE`. */
export function changing<T>({ directory }: Layout, result: Promise<T>): Promise<T> {
  return withFile("ERR_CACHE", `cannot change the cache ${directory}`, result);
}
