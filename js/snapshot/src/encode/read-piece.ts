import { SnapshotError } from "../error.js";
import { readFullySync } from "../local/read-fully.js";
import { wrapSystemErrorsSync } from "../local/system-errors.js";

/** An image that is open in all threads. */
export interface SharedImage {
  /** File descriptor of the image, and its name in messages. */
  readonly image: number;
  readonly imageName: string;
}

/** Reads a piece of an image. @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED` */
export function readPiece(
  { image, imageName }: SharedImage,
  piece: Uint8Array,
  offset: number,
): void {
  const count = wrapSystemErrorsSync("ERR_IMAGE", `cannot read ${imageName}`, () =>
    readFullySync(image, piece, offset),
  );
  if (count === piece.length) return;
  throw new SnapshotError(
    "ERR_IMAGE_CHANGED",
    `${imageName} was truncated while it was read: it now ends at byte ${offset + count}`,
  );
}
