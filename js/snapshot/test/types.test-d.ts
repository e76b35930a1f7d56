import {
  type AttachedDisk,
  type AttachOptions,
  type CachedImage,
  type CacheOptions,
  type CreateInfo,
  type CreateOptions,
  createSnapshot,
  type Disk,
  type FlattenOptions,
  type GetOptions,
  ImageCache,
  inspectSnapshot,
  type ReadOptions,
  type ReadWorkOptions,
  type RestoreOptions,
  restoreSnapshot,
  type S3Options,
  type SnapshotInfo,
  type TransferOptions,
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
    "connections" | "partSize" | "timeouts" | "retries" | "headers" | "s3" | "gcs" | "azure"
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

test("a disk of a store is read and written to like another, and saved to the store", () => {
  type Own =
    | ("save" | "detach" | "name" | "generation" | "epoch" | "lost")
    | ("volume" | "volumes");
  expectTypeOf<keyof AttachedDisk>().toEqualTypeOf<
    Exclude<keyof Disk, "save" | "saveTrace" | "close"> | Own
  >();
  // @ts-expect-error: the snapshots of a store are where it is
  const options: AttachOptions = { s3: {} };
  void options;
});
