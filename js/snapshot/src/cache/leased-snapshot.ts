import type { Manifest } from "../format/manifest.js";

/** A snapshot whose image is in a cache, and is not evicted until it is released. */
export interface LeasedSnapshot {
  /** The path of the image. */
  readonly path: string;
  readonly manifest: Manifest;
  release(): Promise<void>;
}
