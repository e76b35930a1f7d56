import { SnapshotError } from "../error.js";
import type { ObjectLocation } from "./client.js";

/** An object of S3 from which the service copies. */
export interface CopySource {
  readonly location: ObjectLocation;
  /** The ETag that it must have, if it may change. */
  readonly etag: string | undefined;
}

/** A range of an object of S3, [start, end) in bytes. */
export interface CopiedRange {
  /** The object, which may still be uploaded. */
  readonly source: CopySource | Promise<CopySource>;
  readonly start: number;
  readonly end: number;
}

/** The error of a service that does not support copies of ranges. */
export class UnsupportedCopy extends SnapshotError {}

/** Content of an object: bytes, or a range that the service copies. */
export type Content = Uint8Array | CopiedRange;

/** Returns the number of bytes of content. */
export function sizeOf(content: Content): number {
  return content instanceof Uint8Array ? content.length : content.end - content.start;
}
