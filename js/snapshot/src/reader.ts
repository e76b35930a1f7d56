/** `@hedgerow/snapshot/reader`: reads snapshots in browsers, and on any other runtime with WebAssembly. */
export { SnapshotError, type SnapshotErrorCode } from "./error.js";
export type { Segment as FrameSegment } from "./format/frames.js";
export type { BaseObject, DeltaInfo, SnapshotInfo } from "./format/manifest.js";
export type { RandomAccess, ReaderSource } from "./reader/reader-source.js";
export {
  type FrameInfo,
  type ReaderOptions,
  type ReaderReadOptions,
  SnapshotReader,
  type VerifyReaderOptions,
} from "./reader/snapshot-reader.js";
