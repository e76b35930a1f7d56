import { checkBooleans } from "./check-booleans.js";
import { checkFunction } from "./check-types.js";
import type { CreateOptions } from "./create-options.js";
import { transferOf } from "./transfer-options.js";
import { checkWork } from "./work-options.js";

/** Options of `Disk.save`. Those of the transfer default to those with which the disk was opened. */
export interface SaveOptions
  extends Omit<CreateOptions, "pieceSize" | "base" | "baseDigest" | "cache" | "changed"> {}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkSave(options: SaveOptions): void {
  checkWork(options);
  transferOf(options);
  checkBooleans(options, ["overwrite"]);
  checkFunction("resolve", options.resolve);
}
