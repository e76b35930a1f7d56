import type { ImageCache } from "../cache/image-cache.js";
import type { TransferOptions } from "../options/transfer-options.js";
import type { LocalImages } from "./local-images.js";
import type { StoreObjects } from "./objects/objects.js";
import type { Pointers } from "./pointers.js";
import type { Snapshots } from "./snapshots.js";

/** The parts of a store that its calls use. */
export interface StoreParts {
  readonly objects: StoreObjects;
  readonly pointers: Pointers;
  readonly snapshots: Snapshots;
  readonly images: LocalImages;
  readonly cache: ImageCache | undefined;
  /** The name of this host in leases. */
  readonly owner: string;
  /** The duration of leases, in milliseconds. */
  readonly duration: number;
  /** The options of transfers. */
  readonly transfer: TransferOptions;
}
