import {
  type CachedImage,
  type CacheEntry,
  type CacheOptions,
  type CacheStats,
  type Counts,
  type CreateOptions,
  createSnapshot,
  type Events,
  type GetOptions,
  ImageCache,
  inspectSnapshot,
  type Progress,
  type ReadOptions,
  type ReadWorkOptions,
  type RestoreOptions,
  restoreSnapshot,
  type S3Options,
  SnapshotError,
  type SnapshotInfo,
  type Timing,
  type TransferOptions,
  type Verified,
  type VerifyOptions,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { expectTypeOf, test } from "vitest";

test("snapshots are at paths and URLs, and images at paths", () => {
  expectTypeOf(createSnapshot).parameter(0).toEqualTypeOf<string>();
  expectTypeOf(createSnapshot).parameter(1).toEqualTypeOf<string | URL>();
  expectTypeOf(restoreSnapshot).parameter(0).toEqualTypeOf<string | URL>();
  expectTypeOf(restoreSnapshot).parameter(1).toEqualTypeOf<string>();
  for (const read of [inspectSnapshot, verifySnapshot]) {
    expectTypeOf(read).parameter(0).toEqualTypeOf<string | URL>();
    expectTypeOf(read).returns.resolves.toEqualTypeOf<SnapshotInfo>();
  }
});

test("every function knows the options of servers, and no option has to be said", () => {
  expectTypeOf<keyof TransferOptions>().toEqualTypeOf<
    "connections" | "partSize" | "timeouts" | "retries" | "headers" | "s3"
  >();
  expectTypeOf<CreateOptions>().toExtend<TransferOptions>();
  expectTypeOf<RestoreOptions>().toExtend<TransferOptions>();
  expectTypeOf<ReadOptions>().toExtend<TransferOptions>();
  expectTypeOf<Record<string, never>>().toExtend<RestoreOptions>();
  expectTypeOf<{ endpoint: undefined; region: undefined }>().toExtend<S3Options>();
});

test("each function has only the options that mean something to it", () => {
  expectTypeOf<RestoreOptions>().toHaveProperty("resume");
  expectTypeOf<RestoreOptions>().toHaveProperty("overwrite");
  expectTypeOf<CreateOptions>().toHaveProperty("overwrite");
  // @ts-expect-error: nothing is kept of a snapshot that is not whole
  void createSnapshot("image", "snapshot", { resume: true });
  // @ts-expect-error: the digest is known afterwards
  void createSnapshot("image", "snapshot", { digest: "" });
  // @ts-expect-error: nothing is written
  void verifySnapshot("snapshot", { overwrite: false });
  // @ts-expect-error: there is too little to do for several threads
  void inspectSnapshot("snapshot", { workers: 2 });
});

test("a cache is opened, not made, and only by those who say how large it may be", () => {
  expectTypeOf(ImageCache.open).parameters.toEqualTypeOf<[string, CacheOptions]>();
  expectTypeOf(ImageCache.open).returns.resolves.toEqualTypeOf<ImageCache>();
  expectTypeOf<{ maxBytes: number }>().toExtend<CacheOptions>();
  // @ts-expect-error: there is no good size for all
  void ImageCache.open("cache", {});
  // @ts-expect-error: opening it takes a while
  void new ImageCache();
  expectTypeOf<RestoreOptions["cache"]>().toEqualTypeOf<ImageCache | undefined>();
  expectTypeOf<ImageCache>().toExtend<AsyncDisposable>();
});

test("each function of a cache has only the options that mean something to it", () => {
  expectTypeOf<ImageCache["get"]>().parameter(1).toEqualTypeOf<GetOptions | undefined>();
  expectTypeOf<ImageCache["get"]>().returns.resolves.toEqualTypeOf<CachedImage>();
  expectTypeOf<ImageCache["has"]>().parameter(1).toEqualTypeOf<ReadOptions | undefined>();
  expectTypeOf<ImageCache["delete"]>().parameter(1).toEqualTypeOf<ReadOptions | undefined>();
  expectTypeOf<ImageCache["verify"]>().parameter(0).toEqualTypeOf<VerifyOptions | undefined>();
  expectTypeOf<ImageCache["prune"]>().parameter(0).toEqualTypeOf<number | undefined>();
  expectTypeOf<GetOptions>().toExtend<ReadWorkOptions>();
  expectTypeOf<keyof VerifyOptions>().toEqualTypeOf<"signal" | "bytesPerSecond">();
  // @ts-expect-error: what is half fetched stays in any case
  const options: GetOptions = { resume: true };
  void options;
});

test("what a cache tells has the documented fields, which nobody is to change", () => {
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

test("progress and events have the documented fields", () => {
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
  >();
  expectTypeOf<Events["hedgerow:snapshot:retry"]["delay"]>().toEqualTypeOf<number>();
});

test("an error has a code of the documented ones, and what a server answered", () => {
  expectTypeOf(SnapshotError)
    .instance.toHaveProperty("code")
    .toEqualTypeOf<
      | ("ERR_ARGUMENT" | "ERR_IMAGE" | "ERR_IMAGE_CHANGED" | "ERR_SOURCE" | "ERR_SOURCE_CHANGED")
      | ("ERR_SNAPSHOT_FORMAT" | "ERR_SNAPSHOT_DIGEST" | "ERR_TARGET" | "ERR_WORKER")
      | ("ERR_CACHE" | "ERR_CACHE_SIZE")
    >();
  expectTypeOf(SnapshotError).instance.toHaveProperty("status").toEqualTypeOf<number | undefined>();
});
