import { SnapshotError } from "../error.js";
import { checkBooleans } from "./check-booleans.js";
import type { DeltaOptions } from "./delta-options.js";
import type { TransferOptions } from "./transfer-options.js";
import type { WorkOptions } from "./work-options.js";

/**
 * Options of `createSnapshot`. The same image, `level` and `pieceSize` produce the same file. A delta also depends on
 * `base`, `changed`, and the path from the delta to its base objects.
 */
export interface CreateOptions extends WorkOptions, TransferOptions, DeltaOptions {
  /** zstd compression level, 1 to 19. Default: `3`. */
  readonly level?: number | undefined;
  /**
   * Maximum size of the part of the image in one frame, in bytes: a power of two from 4 KiB to 16 MiB.
   * Smaller pieces make random reads cheaper and compress less. Default: 1 MiB. A delta has
   * the piece size of its base; any other value is an error.
   */
  readonly pieceSize?: number | undefined;
  /**
   * `"raw"` to store any file as it is. Pass it if others write to the image: they decide what it looks like. By
   * default, an image in another format (qcow2, VMDK, VHDX, VDI), a compressed file, an archive, a web page and a
   * snapshot are errors.
   */
  readonly format?: ImageFormat | undefined;
  /** Whether to replace an existing file or object at the destination. Default: `true`. */
  readonly overwrite?: boolean | undefined;
}

/** The format of an image. */
export type ImageFormat = "raw";

const DEFAULT_LEVEL = 3;
const DEFAULT_PIECE_SIZE = 2 ** 20;

/** The options that determine the bytes of the file. */
export interface Encoding {
  readonly level: number;
  readonly pieceSize: number;
}

/** Returns the options that determine the bytes of the file, with their defaults. */
export function encodingOf(options: CreateOptions): Encoding {
  const { level = DEFAULT_LEVEL, pieceSize = DEFAULT_PIECE_SIZE } = options;
  return { level, pieceSize };
}

/** Throws unless a format is known. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkFormat({ format }: { readonly format?: unknown }): void {
  if (format === undefined || format === "raw") return;
  const found = typeof format === "string" ? JSON.stringify(format) : typeof format;
  throw new SnapshotError("ERR_ARGUMENT", `format: expected "raw", found ${found}`);
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkOverwrite(options: CreateOptions): void {
  checkBooleans(options, ["overwrite"]);
}
