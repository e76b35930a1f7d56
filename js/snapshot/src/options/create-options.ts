import { SnapshotError } from "../error.js";
import type { TransferOptions } from "./transfer-options.js";
import type { WorkOptions } from "./work-options.js";

/** What `createSnapshot` can be told. The same image, level and piece size give the same file. */
export interface CreateOptions extends WorkOptions, TransferOptions {
  /** The level of zstd's compression, 1 to 19; 3 unless it is said. */
  readonly level?: number | undefined;
  /**
   * The most bytes of the image that one frame holds: a power of two from 4 KiB to 16 MiB; 1 MiB unless
   * it is said. Smaller pieces can be read on their own, and compress less.
   */
  readonly pieceSize?: number | undefined;
  /** Whether what is at the destination goes: true unless it is said. */
  readonly overwrite?: boolean | undefined;
}

const DEFAULT_LEVEL = 3;
const DEFAULT_PIECE_SIZE = 2 ** 20;

/** What of the options the file depends on. */
export interface Encoding {
  readonly level: number;
  readonly pieceSize: number;
}

/** What of the options the file depends on, with what is so unless it is said. */
export function encodingOf(options: CreateOptions): Encoding {
  const { level = DEFAULT_LEVEL, pieceSize = DEFAULT_PIECE_SIZE } = options;
  return { level, pieceSize };
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkOverwrite({ overwrite }: CreateOptions): void {
  if (overwrite === undefined || typeof overwrite === "boolean") return;
  const found = typeof overwrite;
  throw new SnapshotError("ERR_ARGUMENT", `overwrite: expected true or false, found ${found}`);
}
