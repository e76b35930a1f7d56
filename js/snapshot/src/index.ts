/** `@hedgerow/snapshot`: snapshots of disk images, and a cache of restored images. */

export type { CacheOptions } from "./cache/components.js";
export {
  type CachedImage,
  type CacheEntry,
  type GetOptions,
  ImageCache,
} from "./cache/image-cache.js";
export type { CacheStats, Counts, Pruned, Timing, Timings, Verified } from "./cache/statistics.js";
export type { VerifyOptions } from "./cache/verification.js";
export type { Duration } from "./check.js";
export {
  type CreateOptions,
  createSnapshot,
  type DeltaOptions,
  type ImageFormat,
} from "./create-snapshot.js";
export type { CreateInfo, DeltaResult } from "./delta/create-delta.js";
export type { Detection } from "./delta/detect.js";
export type { Disk, DiskProgress } from "./disk/disk.js";
export type { SaveOptions } from "./disk/save-disk.js";
export type { DiskStats, FillStats, Histogram, TraceStats } from "./disk/statistics.js";
export type { Trace } from "./disk/trace.js";
export { SnapshotError, type SnapshotErrorCode } from "./error.js";
export type { CacheEvent, DiskEvent, Events, RequestEvent, StoreEvent } from "./events.js";
export { type FlattenOptions, flattenSnapshot } from "./flatten-snapshot.js";
export type { ByteRange } from "./format/byte-ranges.js";
export type { BaseObject, DeltaInfo, SnapshotInfo } from "./format/manifest.js";
export type {
  AzureOptions,
  GcsCredentials,
  GcsOptions,
  S3Credentials,
  S3Options,
  Timeouts,
  TransferOptions,
} from "./http/transfer.js";
export { inspectSnapshot } from "./inspect-snapshot.js";
export type { Resolve } from "./location/base-objects.js";
export type { ReadOptions, ReadWorkOptions } from "./location/source.js";
export type { ListenOptions, NbdServer, TlsFiles } from "./nbd/server.js";
export { type OpenOptions, openSnapshot } from "./open-snapshot.js";
export type { Progress } from "./progress.js";
export { type RestoreInfo, type RestoreOptions, restoreSnapshot } from "./restore-snapshot.js";
export type {
  AttachedDisk,
  AttachOptions,
  DetachOptions,
  SaveDiskOptions,
  SavedGeneration,
} from "./store/attached-disk.js";
export {
  type CheckStoreOptions,
  checkStore,
  type StoreCheck,
  type StoreReport,
  type StoreUse,
} from "./store/check-store.js";
export type {
  Collected,
  CollectedSnapshot,
  CollectOptions,
  Explanation,
  Reference,
} from "./store/collect.js";
export {
  type Attachment,
  type DiskStatus,
  DiskStore,
  type GenerationOptions,
  type ListOptions,
  type StoreCallOptions,
} from "./store/disk-store.js";
export type { ExpiredGeneration, ExpireOptions } from "./store/expire.js";
export type { Generation, SavedVolume } from "./store/generation.js";
export type { Hook, HookOptions } from "./store/hooks.js";
export type { UnsavedImage } from "./store/local-images.js";
export type { ContentOptions, NewDiskOptions, NewVolume } from "./store/new-disk.js";
export type { StoreOptions } from "./store/open-store.js";
export type { ParentGeneration, VolumeKind } from "./store/pointer.js";
export type { DiskVolume, FileVolume, Volume } from "./store/volume.js";
export { verifySnapshot } from "./verify-snapshot.js";
export type { WorkOptions } from "./workers/pool.js";
