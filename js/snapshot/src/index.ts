/** `@hedgerow/snapshot`: snapshots of disk images, and a cache of restored images. */

export type { CachedImage, CacheEntry } from "./cache/image-cache.js";
export { ImageCache } from "./cache/image-cache.js";
export type { CacheStats, Counts, Pruned, Timing, Timings, Verified } from "./cache/statistics.js";
export { type CreateInfo, createSnapshot } from "./create-snapshot.js";
export type { DeltaResult } from "./delta/create-delta.js";
export type { Detection } from "./delta/detect.js";
export type { Disk, DiskProgress } from "./disk/disk.js";
export type {
  DiskStats,
  FillStats,
  Histogram,
  TraceStats,
} from "./disk/statistics.js";
export { type Place, SnapshotError, type SnapshotErrorCode } from "./error.js";
export type { CacheEvent, DiskEvent, Events, RequestEvent, StoreEvent } from "./events.js";
export { flattenSnapshot } from "./flatten-snapshot.js";
export type { BaseObject, DeltaInfo, SnapshotInfo } from "./format/manifest.js";
export { inspectSnapshot } from "./inspect-snapshot.js";
export type { NbdServer } from "./nbd/server.js";
export { openSnapshot } from "./open-snapshot.js";
export type { CacheOptions, GetOptions, VerifyOptions } from "./options/cache-options.js";
export type { CreateOptions, ImageFormat } from "./options/create-options.js";
export type { ByteRange, DeltaOptions } from "./options/delta-options.js";
export type { Duration } from "./options/duration.js";
export type { FlattenOptions } from "./options/flatten-options.js";
export type { ListenOptions, TlsFiles } from "./options/listen-options.js";
export type { OpenOptions } from "./options/open-options.js";
export type { RestoreOptions } from "./options/restore-options.js";
export type { S3Credentials, S3Options } from "./options/s3-options.js";
export type { SaveOptions } from "./options/save-options.js";
export type {
  AttachOptions,
  CollectOptions,
  DetachOptions,
  ExpireOptions,
  GenerationOptions,
  Hook,
  HookOptions,
  ListOptions,
  NewDiskOptions,
  SaveDiskOptions,
  StoreOptions,
} from "./options/store-options.js";
export type { Trace } from "./options/trace.js";
export type { Timeouts, TransferOptions } from "./options/transfer-options.js";
export type { ReadOptions, ReadWorkOptions, Resolve, WorkOptions } from "./options/work-options.js";
export type { Progress } from "./progress.js";
export { type RestoreInfo, restoreSnapshot } from "./restore-snapshot.js";
export type { AttachedDisk, SavedGeneration } from "./store/attached-disk.js";
export type { Collected, CollectedSnapshot, Explanation, Reference } from "./store/collect.js";
export { type Attachment, type DiskStatus, DiskStore } from "./store/disk-store.js";
export type { ExpiredGeneration } from "./store/expire.js";
export type { UnsavedImage } from "./store/local-images.js";
export type { Generation, ParentGeneration } from "./store/pointer.js";
export { verifySnapshot } from "./verify-snapshot.js";
