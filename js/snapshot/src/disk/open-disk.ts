import { setTimeout as sleep } from "node:timers/promises";

import { DecodeJob } from "../decode/decode-job.js";
import { SnapshotError } from "../error.js";
import type { Manifest } from "../format/manifest.js";
import { backoff } from "../http/retry.js";
import { libc } from "../local/libc.js";
import type { OpenOptions } from "../options/open-options.js";
import { type Transfer, transferOf } from "../options/transfer-options.js";
import { checkPinned } from "../options/work-options.js";
import type { Location } from "../places/location.js";
import type { OpenObject } from "../places/open-object.js";
import { decodeFrom, type Source, withSource } from "../places/source.js";
import { DemandFetcher } from "./demand.js";
import type { DiskParts } from "./disk.js";
import { DiskFiles } from "./disk-files.js";
import { DiskImage } from "./disk-image.js";
import { DiskEngine } from "./engine.js";
import { ImageLayout } from "./image-layout.js";

/** The size of the ranges of a fill, in bytes: readers wait for the connections less than with larger ones. */
const FILL_PART_SIZE = 2 ** 21;

/** How often the state of a fill is made durable, in milliseconds. */
const SYNC_INTERVAL = 1_000;

/** By how much the threads that fill a disk give way to others. */
const NICENESS = 10;

/** Errors of a snapshot that no retry can fix. */
const PERMANENT: ReadonlySet<string> = new Set([
  ...["ERR_SNAPSHOT_FORMAT", "ERR_SNAPSHOT_DIGEST", "ERR_SOURCE_CHANGED", "ERR_WORKER"],
]);

/** The result of a disk that is being closed. */
const CLOSED = "the disk was closed";

/** Receives a disk that is open. */
export type OnOpen = (parts: Omit<DiskParts, "closed">) => void;

/** Opens a disk, calls `onOpen` with it, and returns when it is closed. */
export async function withDisk(
  location: Location,
  path: string,
  digest: string | undefined,
  options: OpenOptions,
  onOpen: OnOpen,
): Promise<void> {
  const closing = new AbortController();
  const how = { options: { ...options, signal: closing.signal }, wanted: "info" as const };
  const abort = () => closing.abort(options.signal?.reason);
  options.signal?.addEventListener("abort", abort, { once: true });
  options.signal?.throwIfAborted();
  try {
    await withSource(location, how, async (source) => {
      const manifest = await source.manifest();
      checkPinned(source.name, digest, manifest.info.digest);
      const files = await DiskFiles.open(path, manifest);
      try {
        await run({ source, manifest, files, path, options, closing }, (parts) => {
          options.signal?.removeEventListener("abort", abort);
          onOpen(parts);
        });
      } finally {
        await files.close();
      }
    });
  } finally {
    options.signal?.removeEventListener("abort", abort);
  }
}

/** What an open disk consists of. */
interface Opened {
  readonly source: Source;
  readonly manifest: Manifest;
  readonly files: DiskFiles;
  readonly path: string;
  readonly options: OpenOptions;
  /** Aborted when the disk is closed. */
  readonly closing: AbortController;
}

async function run(opened: Opened, onOpen: OnOpen): Promise<void> {
  const { source, manifest, files, path, options, closing } = opened;
  const { signal } = closing;
  const image = {
    ...{ fd: files.file.fd, name: path, journal: undefined, niceness: NICENESS },
    mayHoldData: files.isReopened,
    written: files.sets.written,
  };
  const job = new DecodeJob(source.name, manifest, image, (frame) => !files.hasFrame(frame));
  files.track(job.states);
  const system = await libc();
  if (system === undefined) throw new SnapshotError("ERR_TARGET", "disks need koffi");
  const layout = new ImageLayout(manifest);
  const { states } = job;
  const diskImage = new DiskImage({
    ...{ name: path, file: files.file, layout, states, sets: files.sets },
    ...{ base: undefined, libc: system },
  });
  await source.withObjects(job, signal, async (objects) => {
    const transfer = transferOf(options);
    const data = await job.sinkData();
    // From here to the listener, nothing waits: an abort before it would go unnoticed.
    signal.throwIfAborted();
    const demand = new DemandFetcher(data, objects, forReaders(transfer, options), () => {});
    const engine = new DiskEngine({
      ...{ layout, states, image: diskImage, files, demand },
      isReadOnly: options.readOnly ?? false,
    });
    const end = new SnapshotError("ERR_DISK_CLOSED", CLOSED);
    const filled = fill(opened, job, objects, transfer);
    const closed = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    onOpen({
      ...{ info: manifest.info, engine, files, filled },
      progress: () => ({ bytes: job.counters.counts.bytes, totalBytes: job.totalBytes }),
      close: () => closing.abort(end),
    });
    await closed;
    await engine.close(end);
    await filled.catch(() => {});
    await files.sync();
  });
}

/** Returns how readers' requests are made. Those who wait for the server retry until the disk is closed. */
function forReaders(transfer: Transfer, { onStall = "wait" }: OpenOptions): Transfer {
  return onStall === "wait" ? { ...transfer, retries: Number.MAX_SAFE_INTEGER } : transfer;
}

/** Fills the image in the background, and gives it its name when it is complete. */
async function fill(
  { files, options, closing: { signal } }: Opened,
  job: DecodeJob,
  objects: readonly (OpenObject | undefined)[],
  transfer: Transfer,
): Promise<void> {
  const sync = setInterval(() => void files.sync().catch(() => {}), SYNC_INTERVAL);
  try {
    const { partSize, connections } = transfer;
    const ranges = { ...transfer, connections, partSize: Math.min(partSize, FILL_PART_SIZE) };
    const work = { workers: options.workers, signal };
    for (let failures = 0; !job.isDone; ) {
      signal.throwIfAborted();
      try {
        if (options.fill === "none") await sleep(100, undefined, { signal });
        else await decodeFrom(objects, ranges, job, work, undefined);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SnapshotError && PERMANENT.has(error.code)) throw error;
        failures += 1;
        await sleep(backoff(failures), undefined, { signal });
      }
    }
    await files.publish();
  } finally {
    clearInterval(sync);
  }
}
