import { readWholeSync } from "../local/read-write.js";

/** An image that is open in all threads. */
export interface SharedImage {
  /** File descriptor of the image, and its name in messages. */
  readonly image: number;
  readonly imageName: string;
}

/** Reads a piece of an image. @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED` */
export function readPiece(
  { image: fd, imageName: name }: SharedImage,
  piece: Uint8Array,
  offset: number,
): void {
  readWholeSync("ERR_IMAGE", { fd, name }, piece, offset, "ERR_IMAGE_CHANGED");
}
