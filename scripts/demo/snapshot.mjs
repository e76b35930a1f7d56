// Snapshots a disk image of installed files and restores it from a file, a server and a cache, with Hedgerow and
// with plain zstd.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import {
  createSnapshot,
  ImageCache,
  inspectSnapshot,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";

import { checkExt4Image, makeExt4Image } from "../lib/ext4-image.mjs";
import { inRoot } from "../lib/paths.mjs";
import { attempt, run, StepError, step } from "../lib/run.mjs";
import { printTable } from "../lib/table.mjs";

const SIZES = { imageBytes: 2 ** 30, dataBytes: 300e6 };

/** Simulated object store: throughput of a connection, and time to first byte in milliseconds. */
const CONNECTION = { bytesPerSecond: 90e6, firstByte: 30 };

/** Size limit of the cache: more than the data of the image. */
const CACHE_BYTES = 2 ** 30;

export async function demonstrateSnapshot() {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-demo-"));
  try {
    await demonstrateIn(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} folder */
async function demonstrateIn(folder) {
  const image = join(folder, "disk.ext4");
  const snapshot = join(folder, "disk.vhs");
  const restored = join(folder, "restored.ext4");
  const unpacked = join(folder, "unpacked.ext4");

  step("snapshots: making an ext4 image of installed files (a few seconds)");
  const { files } = makeExt4Image(image, SIZES);

  step("snapshots: creating, restoring and verifying a snapshot");
  const creating = await timed(() => createSnapshot(image, snapshot));
  const { digest, imageSize, dataSize, fileSize, dataFrames } = await inspectSnapshot(snapshot);
  const restoring = await timed(() => restoreSnapshot(snapshot, restored, { digest }));
  const verifying = await timed(() => verifySnapshot(snapshot, { digest }));

  step("snapshots: restoring it with zstd alone");
  const unpacking = await timed(() => {
    run("zstd", ["-d", "--sparse", "-q", snapshot, "-o", unpacked]);
    run("sync", [unpacked]);
  });

  const { bytesPerSecond, firstByte } = CONNECTION;
  step(
    `snapshots: restoring from a server with ${bytesPerSecond / 1e6} MB/s per connection and ${firstByte} ms to the first byte`,
  );
  const { url, close } = await serve(snapshot);
  const { remote, cached } = await restoreByAll(url, folder, digest).finally(close);

  step("snapshots: comparing the images and running e2fsck");
  const copies = [restored, unpacked, ...remote.copies, ...cached.copies];
  const differing = copies.filter((copy) => attempt("cmp", [image, copy]).status !== 0).length;
  for (const copy of copies) checkExt4Image(copy);

  printTable([
    ["files in the image", files],
    ["image size, MB", megabytes(imageSize)],
    ["  data in it", megabytes(dataSize)],
    ["  snapshot", megabytes(fileSize)],
    ["data frames", dataFrames],
    ["create the snapshot, ms", creating],
    ["restore it from a file and fsync, ms", restoring],
    ["  zstd -d --sparse, sync", unpacking],
    ["verify it, ms", verifying],
    ["restore it from the server, ms", remote.restoring],
    ["  curl, then zstd -d --sparse", remote.sequential],
    ["  curl | zstd -d --sparse", remote.streaming],
    ["restore it through an empty cache, ms", cached.filling],
    ["  again, from the cache", cached.hitting],
    ["  lease it from the cache, without a copy", cached.leasing],
    ["disk space of the image, MB", blocks(image)],
    ["  of the restored image", blocks(restored)],
    ["restored images that differ", differing],
  ]);
  if (differing > 0) throw new StepError("expected the image, found another one");
}

/**
 * Restores a snapshot from a server, without and with a cache.
 *
 * @param {string} url
 * @param {string} folder
 * @param {string} digest
 */
async function restoreByAll(url, folder, digest) {
  const remote = await restoreFromServer(url, folder, digest);
  step("snapshots: restoring through a cache, twice");
  const cached = await restoreThroughCache(url, folder, digest);
  return { remote, cached };
}

/**
 * Restores a snapshot from a server with Hedgerow and with curl and zstd.
 *
 * @param {string} url
 * @param {string} folder
 * @param {string} digest
 */
async function restoreFromServer(url, folder, digest) {
  const restored = join(folder, "fetched.ext4");
  const fetched = join(folder, "fetched-by-curl.vhs");
  const unpacked = join(folder, "fetched-by-curl.ext4");
  const streamed = join(folder, "streamed-by-curl.ext4");
  const restoring = await timed(() => restoreSnapshot(url, restored, { digest }));
  const sequential = await timed(() => {
    run("curl", ["-sSf", url, "-o", fetched]);
    run("zstd", ["-d", "--sparse", "-q", fetched, "-o", unpacked]);
    run("sync", [unpacked]);
  });
  const streaming = await timed(() => {
    const pipe = 'set -o pipefail; curl -sSf "$0" | zstd -d --sparse -q -o "$1"';
    run("bash", ["-c", pipe, url, streamed]);
    run("sync", [streamed]);
  });
  return { restoring, sequential, streaming, copies: [restored, unpacked, streamed] };
}

/**
 * Restores a snapshot twice through a cache: a miss, then a hit.
 *
 * @param {string} url
 * @param {string} folder
 * @param {string} digest
 */
async function restoreThroughCache(url, folder, digest) {
  const [first, second] = [join(folder, "filled.ext4"), join(folder, "hit.ext4")];
  const cache = await ImageCache.open(join(folder, "cache"), { maxBytes: CACHE_BYTES });
  try {
    const filling = await timed(() => restoreSnapshot(url, first, { digest, cache }));
    const hitting = await timed(() => restoreSnapshot(url, second, { digest, cache }));
    const leasing = await timed(async () => (await cache.get(url, { digest })).release());
    const { hits, misses } = await cache.stats();
    if (hits !== 2 || misses !== 1) throw new StepError("expected a miss and two hits");
    return { filling, hitting, leasing, copies: [first, second] };
  } finally {
    await cache.close();
  }
}

/** Starts a server for a file. It ends with this process, however that ends. @param {string} file */
async function serve(file) {
  const args = [inRoot("tests", "origin", "serve.mjs"), "--file", file];
  const { bytesPerSecond, firstByte } = CONNECTION;
  args.push("--bytes-per-second", String(bytesPerSecond), "--first-byte", String(firstByte));
  const server = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exit = once(server, "exit");
  for await (const line of createInterface(server.stdout)) {
    /** @type {{ urls: [string] }} */
    const { urls } = JSON.parse(line);
    const close = () => {
      server.stdin.end();
      return exit;
    };
    return { url: urls[0], close };
  }
  throw new StepError("the snapshot server did not start");
}

/** Measures an action, in milliseconds. @param {() => unknown} action */
async function timed(action) {
  const start = performance.now();
  await action();
  return Math.round(performance.now() - start);
}

/** @param {number} bytes */
const megabytes = (bytes) => Math.round(bytes / 1e6);

/** Returns the disk space of a file, in MB. @param {string} path */
const blocks = (path) => megabytes(statSync(path).blocks * 512);
