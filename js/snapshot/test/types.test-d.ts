import {
  type AttachedDisk,
  type AttachOptions,
  type CachedImage,
  type CacheEntry,
  type CacheOptions,
  type CacheStats,
  type Collected,
  type Counts,
  type CreateInfo,
  type CreateOptions,
  createSnapshot,
  type Disk,
  type DiskStats,
  type DiskStatus,
  type Events,
  type FillStats,
  type FlattenOptions,
  type Generation,
  type GetOptions,
  type Histogram,
  ImageCache,
  inspectSnapshot,
  type Progress,
  type ReadOptions,
  type ReadWorkOptions,
  type RestoreOptions,
  restoreSnapshot,
  type S3Options,
  type SavedGeneration,
  SnapshotError,
  type SnapshotInfo,
  type Timing,
  type TraceStats,
  type TransferOptions,
  type Verified,
  type VerifyOptions,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { expectTypeOf, test } from "vitest";

test("accepts paths and URLs for snapshots, and paths for images", () => {
  expectTypeOf(createSnapshot).parameter(0).toEqualTypeOf<string>();
  expectTypeOf(createSnapshot).parameter(1).toEqualTypeOf<string | URL>();
  expectTypeOf(restoreSnapshot).parameter(0).toEqualTypeOf<string | URL>();
  expectTypeOf(restoreSnapshot).parameter(1).toEqualTypeOf<string>();
  for (const read of [inspectSnapshot, verifySnapshot]) {
    expectTypeOf(read).parameter(0).toEqualTypeOf<string | URL>();
    expectTypeOf(read).returns.resolves.toEqualTypeOf<SnapshotInfo>();
  }
});

test("accepts transfer options in every function and requires none", () => {
  expectTypeOf<keyof TransferOptions>().toEqualTypeOf<
    "connections" | "partSize" | "timeouts" | "retries" | "headers" | "s3"
  >();
  expectTypeOf<CreateOptions>().toExtend<TransferOptions>();
  expectTypeOf<RestoreOptions>().toExtend<TransferOptions>();
  expectTypeOf<ReadOptions>().toExtend<TransferOptions>();
  expectTypeOf<Record<string, never>>().toExtend<RestoreOptions>();
  expectTypeOf<{ endpoint: undefined; region: undefined }>().toExtend<S3Options>();
});

test("offers each function only the options that apply to it", () => {
  expectTypeOf<RestoreOptions>().toHaveProperty("resume");
  expectTypeOf<RestoreOptions>().toHaveProperty("overwrite");
  expectTypeOf<CreateOptions>().toHaveProperty("overwrite");
  expectTypeOf<FlattenOptions>().toHaveProperty("digest");
  // @ts-expect-error: an infull snapshot is not kept
  void createSnapshot("image", "snapshot", { resume: true });
  // @ts-expect-error: the digest is a result
  void createSnapshot("image", "snapshot", { digest: "" });
  // @ts-expect-error: nothing is written
  void verifySnapshot("snapshot", { overwrite: false });
  // @ts-expect-error: one thread suffices
  void inspectSnapshot("snapshot", { workers: 2 });
});

test("accepts any iterable of ranges that changed, and says how changes were found", () => {
  expectTypeOf<{
    base: URL;
    changed: Set<{ start: number; end: number }>;
  }>().toExtend<CreateOptions>();
  expectTypeOf<CreateInfo["detection"]>().toEqualTypeOf<
    "changed" | "extents" | "compare" | "digests" | undefined
  >();
});

test("opens a cache only asynchronously and with a maximum size", () => {
  expectTypeOf(ImageCache.open).parameters.toEqualTypeOf<[string, CacheOptions]>();
  expectTypeOf(ImageCache.open).returns.resolves.toEqualTypeOf<ImageCache>();
  expectTypeOf<{ maxBytes: number }>().toExtend<CacheOptions>();
  // @ts-expect-error: no default size fits everyone
  void ImageCache.open("cache", {});
  // @ts-expect-error: opening is asynchronous
  void new ImageCache();
  expectTypeOf<RestoreOptions["cache"]>().toEqualTypeOf<ImageCache | undefined>();
  expectTypeOf<ImageCache>().toExtend<AsyncDisposable>();
});

test("offers each method of a cache only the options that apply to it", () => {
  expectTypeOf<ImageCache["get"]>().parameter(1).toEqualTypeOf<GetOptions | undefined>();
  expectTypeOf<ImageCache["get"]>().returns.resolves.toEqualTypeOf<CachedImage>();
  expectTypeOf<ImageCache["has"]>().parameter(1).toEqualTypeOf<ReadOptions | undefined>();
  expectTypeOf<ImageCache["delete"]>().parameter(1).toEqualTypeOf<ReadOptions | undefined>();
  expectTypeOf<ImageCache["verify"]>().parameter(0).toEqualTypeOf<VerifyOptions | undefined>();
  expectTypeOf<ImageCache["prune"]>().parameter(0).toEqualTypeOf<number | undefined>();
  expectTypeOf<GetOptions>().toExtend<ReadWorkOptions>();
  expectTypeOf<keyof VerifyOptions>().toEqualTypeOf<"signal" | "bytesPerSecond">();
  // @ts-expect-error: a cache always keeps what was fetched
  const options: GetOptions = { resume: true };
  void options;
});

test("declares the documented, read-only fields of cache results", () => {
  expectTypeOf<keyof CachedImage>().toEqualTypeOf<
    "path" | "hit" | "bytes" | "info" | "release" | typeof Symbol.asyncDispose
  >();
  expectTypeOf<CachedImage["info"]>().toEqualTypeOf<SnapshotInfo>();
  expectTypeOf<CacheEntry>().toEqualTypeOf<{
    readonly digest: string;
    readonly bytes: number;
    readonly imageSize: number;
    readonly source: string;
    readonly lastUsed: Date;
  }>();
  expectTypeOf<keyof Counts>().toEqualTypeOf<
    "hits" | "misses" | "fills" | "failures" | "evictions" | "damaged"
  >();
  expectTypeOf<keyof CacheStats>().toEqualTypeOf<
    | (keyof Counts | "hit" | "miss" | "wait" | "totals")
    | ("entries" | "bytes" | "maxBytes" | "excessBytes" | "leases" | "leasedBytes")
  >();
  expectTypeOf<CacheStats["wait"]>().toEqualTypeOf<Timing>();
  expectTypeOf<CacheStats["totals"]>().toEqualTypeOf<Counts>();
  expectTypeOf<Verified>().toEqualTypeOf<{
    readonly good: number;
    readonly damaged: readonly string[];
  }>();
  expectTypeOf<keyof Events["hedgerow:cache:get"]>().toEqualTypeOf<
    "directory" | "digest" | "bytes" | "hit" | "duration"
  >();
  expectTypeOf<keyof Events["hedgerow:cache:damaged"]>().toEqualTypeOf<
    "directory" | "digest" | "reason"
  >();
});

test("declares the documented, read-only fields of the statistics and events of disks", () => {
  expectTypeOf<Disk["stats"]>().returns.toEqualTypeOf<DiskStats>();
  expectTypeOf<DiskStats>().toEqualTypeOf<{
    readonly open: number;
    readonly firstByte: number | undefined;
    readonly reads: number;
    readonly demand: Histogram;
    readonly fill: FillStats;
    readonly trace: TraceStats;
  }>();
  expectTypeOf<Histogram>().toExtend<Timing>();
  expectTypeOf<keyof Histogram>().toEqualTypeOf<keyof Timing | "bounds" | "counts">();
  expectTypeOf<keyof FillStats>().toEqualTypeOf<"bytes" | "duration" | "bytesPerSecond">();
  expectTypeOf<keyof TraceStats>().toEqualTypeOf<"frames" | "hits" | "misses" | "hitRate">();
  expectTypeOf<keyof Events["hedgerow:disk:open"]>().toEqualTypeOf<
    "image" | "digest" | "duration"
  >();
  expectTypeOf<keyof Events["hedgerow:disk:demand"]>().toEqualTypeOf<
    "image" | "offset" | "length" | "duration"
  >();
  expectTypeOf<keyof Events["hedgerow:disk:filled"]>().toEqualTypeOf<
    "image" | "digest" | "bytes" | "duration"
  >();
  expectTypeOf<keyof Events["hedgerow:disk:full"]>().toEqualTypeOf<
    "image" | "digest" | "missingBytes" | "freeBytes"
  >();
  expectTypeOf<keyof Events["hedgerow:disk:save"]>().toEqualTypeOf<
    "image" | "destination" | "bytes" | "pause" | "duration"
  >();
});

test("declares the documented members of disks in a store", () => {
  type Saves = "save" | "detach" | "name" | "generation" | "epoch" | "lost";
  expectTypeOf<keyof AttachedDisk>().toEqualTypeOf<
    Exclude<keyof Disk, "save" | "saveTrace" | "close"> | Saves
  >();
  expectTypeOf<keyof Generation>().toEqualTypeOf<
    "number" | "digest" | "source" | "time" | "label" | "bytes" | "totalBytes" | "parent"
  >();
  expectTypeOf<keyof SavedGeneration>().toEqualTypeOf<
    keyof Generation | "pause" | "changedBytes" | "duration"
  >();
  expectTypeOf<keyof DiskStatus>().toEqualTypeOf<
    "name" | "size" | "generations" | "last" | "ownBytes" | "sharedBytes" | "attached"
  >();
  expectTypeOf<keyof Collected>().toEqualTypeOf<
    "snapshots" | "deleted" | "marked" | "bytes" | "leftovers" | "duration"
  >();
  // @ts-expect-error: the snapshots of a store are where it is
  const options: AttachOptions = { s3: {} };
  void options;
});

test("declares the documented fields of progress and events", () => {
  expectTypeOf<keyof Progress>().toEqualTypeOf<
    | ("phase" | "bytes" | "totalBytes" | "compressedBytes" | "frames" | "bytesPerSecond")
    | ("transferredBytes" | "retries" | "hedged")
  >();
  expectTypeOf<keyof Events>().toEqualTypeOf<
    | "hedgerow:snapshot:request"
    | "hedgerow:snapshot:retry"
    | "hedgerow:snapshot:connections"
    | "hedgerow:snapshot:no-ranges"
    | "hedgerow:cache:get"
    | "hedgerow:cache:fill"
    | "hedgerow:cache:evict"
    | "hedgerow:cache:damaged"
    | "hedgerow:disk:open"
    | "hedgerow:disk:demand"
    | "hedgerow:disk:filled"
    | "hedgerow:disk:full"
    | "hedgerow:disk:save"
    | "hedgerow:store:attach"
    | "hedgerow:store:save"
    | "hedgerow:store:save-failed"
    | "hedgerow:store:lost"
    | "hedgerow:store:collect"
  >();
  expectTypeOf<Events["hedgerow:snapshot:retry"]["delay"]>().toEqualTypeOf<number>();
});

test("declares the documented error codes and the HTTP status", () => {
  expectTypeOf(SnapshotError)
    .instance.toHaveProperty("code")
    .toEqualTypeOf<
      | ("ERR_ARGUMENT" | "ERR_IMAGE" | "ERR_IMAGE_CHANGED" | "ERR_SOURCE" | "ERR_SOURCE_CHANGED")
      | ("ERR_SNAPSHOT_FORMAT" | "ERR_SNAPSHOT_DIGEST" | "ERR_TARGET" | "ERR_WORKER")
      | ("ERR_CACHE" | "ERR_CACHE_SIZE" | "ERR_DISK_CLOSED")
      | ("ERR_STORE" | "ERR_NO_DISK" | "ERR_DISK_EXISTS" | "ERR_ATTACHED" | "ERR_LEASE_LOST")
      | "ERR_HOOK"
    >();
  expectTypeOf(SnapshotError).instance.toHaveProperty("status").toEqualTypeOf<number | undefined>();
});
