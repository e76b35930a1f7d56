// Snapshots a disk image of installed files and restores it from a file, a server and a cache, with Hedgerow and
// with plain zstd. Then saves changes of it as a delta, and keeps a disk in a store.
import { join } from "node:path";

import {
  createSnapshot,
  ImageCache,
  inspectSnapshot,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";

import { startServer } from "../../bench/harness/server.mjs";
import { inTemporaryFolder } from "../../bench/harness/temporary.mjs";
import { makeExt4Image } from "../lib/file-systems.mjs";
import { megabytes, printTable, timed } from "../lib/measured.mjs";
import { attempt, run, StepError, step } from "../lib/run.mjs";
import { demonstrateDelta } from "./delta.mjs";
import { demonstrateStore } from "./store.mjs";

const SIZES = { imageBytes: 2 ** 30, dataBytes: 300e6 };

/** Simulated object store: throughput of a connection, and time to first byte in milliseconds. */
const NETWORK = { name: "demo", bytesPerSecond: 90e6, firstByte: 30 };

/** Size limit of the cache: more than the data of the image. */
const CACHE_BYTES = 2 ** 30;

export const demonstrateSnapshot = () => inTemporaryFolder(demonstrateIn);

/** @param {string} folder */
async function demonstrateIn(folder) {
  const image = join(folder, "disk.ext4");
  const snapshot = join(folder, "disk.vhs");
  const copies = /** @type {string[]} */ ([]);
  /** Times an action that restores the image. @param {(copy: string) => unknown} restore */
  const restored = (restore) => {
    const copy = join(folder, `restored-${copies.length}.ext4`);
    copies.push(copy);
    return timed(() => restore(copy));
  };

  step("snapshots: making an ext4 image of installed files (a few seconds)");
  const { files } = makeExt4Image(image, SIZES);

  step("snapshots: creating, restoring and verifying a snapshot, and restoring it with zstd alone");
  const creating = await timed(() => createSnapshot(image, snapshot));
  const { digest, imageSize, dataSize, fileSize } = await inspectSnapshot(snapshot);
  const restoring = await restored((copy) => restoreSnapshot(snapshot, copy, { digest }));
  const unpacking = await restored((copy) => {
    run("zstd", ["-d", "--sparse", "-q", snapshot, "-o", copy]);
    run("sync", [copy]);
  });
  const verifying = await timed(() => verifySnapshot(snapshot, { digest }));

  const { bytesPerSecond, firstByte } = NETWORK;
  step(
    `snapshots: restoring from a server with ${bytesPerSecond / 1e6} MB/s per connection and ${firstByte} ms to the first byte`,
  );
  const server = await startServer(NETWORK, { files: [snapshot] });
  const cache = await ImageCache.open(join(folder, "cache"), { maxBytes: CACHE_BYTES });
  try {
    const url = server.url(snapshot);
    const fetching = await restored((copy) => restoreSnapshot(url, copy, { digest }));
    const streaming = await restored((copy) => {
      const pipe = 'set -o pipefail; curl -sSf "$0" | zstd -d --sparse -q -o "$1"';
      run("bash", ["-c", pipe, url, copy]);
      run("sync", [copy]);
    });
    step("snapshots: restoring through a cache, twice");
    const filling = await restored((copy) => restoreSnapshot(url, copy, { digest, cache }));
    const hitting = await restored((copy) => restoreSnapshot(url, copy, { digest, cache }));
    const leasing = await timed(async () => (await cache.get(url, { digest })).release());

    step("snapshots: comparing the restored images");
    const differing = copies.filter((copy) => attempt("cmp", [image, copy]).status !== 0).length;
    printTable([
      ["files in the image", files],
      ["image size, MB", megabytes(imageSize)],
      ["  data in it", megabytes(dataSize)],
      ["  snapshot", megabytes(fileSize)],
      ["create the snapshot, ms", creating],
      ["restore it from a file and fsync, ms", restoring],
      ["  zstd -d --sparse, sync", unpacking],
      ["verify it, ms", verifying],
      ["restore it from the server, ms", fetching],
      ["  curl | zstd -d --sparse, sync", streaming],
      ["restore it through an empty cache, ms", filling],
      ["  again, from the cache", hitting],
      ["  lease it from the cache, without a copy", leasing],
      ["restored images that differ", differing],
    ]);
    if (differing > 0) throw new StepError("a restored image differs from the original");
    await demonstrateDelta(folder, { snapshot, digest }, cache, NETWORK);
    await demonstrateStore(folder, { snapshot, digest });
  } finally {
    await cache.close();
    await server.stop();
  }
}
