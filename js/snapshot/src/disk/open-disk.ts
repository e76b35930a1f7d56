import { resolve } from "node:path";
import { unlessAborted } from "../abort.js";
import { type ImageCache, leaseCached } from "../cache/image-cache.js";
import { checkPinned } from "../check.js";
import { DecodeJob } from "../decode/decode-job.js";
import { SnapshotError } from "../error.js";
import type { Manifest } from "../format/manifest.js";
import { RemoteObject } from "../http/remote-object.js";
import { UNTIL_ANSWERED } from "../http/retry.js";
import { type Transfer, transferOf } from "../http/transfer.js";
import { libc } from "../local/libc.js";
import type { KnownBase } from "../location/base-objects.js";
import type { Location } from "../location/location.js";
import { openSource } from "../location/source.js";
import type { OpenOptions } from "../open-snapshot.js";
import { type BaseImage, withBaseImage, withLeased } from "./base-image.js";
import { DemandFetcher } from "./demand.js";
import type { OpenDisk } from "./disk.js";
import { DiskFiles } from "./disk-files.js";
import { DiskImage } from "./disk-image.js";
import { openedLater, type WithDiskObjects } from "./disk-objects.js";
import { DiskEngine } from "./engine.js";
import { DemandLatency, fillDisk, reportFull } from "./fill.js";
import { ImageLayout } from "./image-layout.js";
import { LockedDisk } from "./locked-disk.js";
import { DiskSaver } from "./save-disk.js";
import { DiskMonitor, TraceHits } from "./statistics.js";
import { readTrace, type Trace, TraceRecorder } from "./trace.js";
import { UnkeptFrames } from "./unkept-frames.js";

/** By how much the threads that fill a disk give way to others. */
const NICENESS = 10;

/** A disk to open. */
export interface DiskToOpen {
  /** When `openSnapshot` was called, as `performance.now()` says. */
  readonly begun: number;
  readonly location: Location;
  /** The path of the image. */
  readonly path: string;
  /** Until this settles, nothing is fetched in the background, so that opening the disk has the processors. */
  readonly ready?: Promise<unknown> | undefined;
  /** The lock of the image, which ends with the disk. Default: it is locked. */
  readonly locked?: Promise<LockedDisk> | undefined;
  /** Whether the image is a new one: its snapshot is then requested before it is locked. Default: `false`. */
  readonly isNew?: boolean | undefined;
  readonly digest: string | undefined;
  /** Returns base objects that the snapshot is known to have. */
  readonly bases?: (() => Promise<readonly KnownBase[]>) | undefined;
  readonly cache: ImageCache | undefined;
  /** What an earlier disk read first, or the location of that. */
  readonly trace: Trace | Location | undefined;
  readonly options: OpenOptions;
}

/** Receives a disk that is open. */
type OnOpen = (open: Omit<OpenDisk, "closed">) => void;

/** A snapshot to open as a disk. */
interface FoundSnapshot {
  /** Its name in messages. */
  readonly name: string;
  readonly manifest: Manifest;
  readonly base: BaseImage | undefined;
  readonly trace: Promise<Trace | undefined>;
  /** Opens the objects that have its missing frames. */
  readonly withObjects: WithDiskObjects;
}

/** Opens a disk, until it is closed. @throws {SnapshotError} what `openSnapshot` throws */
export function openDisk(disk: DiskToOpen): Promise<OpenDisk> {
  return new Promise((resolve, reject) => {
    const closed: Promise<void> = withDisk(disk, (open) =>
      resolve({ ...open, closed: () => closed }),
    );
    closed.catch(reject);
  });
}

/** Opens a disk, calls `onOpen` with it, and returns when it is closed. */
async function withDisk(disk: DiskToOpen, onOpen: OnOpen): Promise<void> {
  const { path, options } = disk;
  const closing = new AbortController();
  const abort = () => closing.abort(options.signal?.reason);
  options.signal?.addEventListener("abort", abort, { once: true });
  // Meanwhile, the snapshot is requested.
  const locking = disk.locked ?? LockedDisk.open(path);
  locking.catch(() => {});
  try {
    options.signal?.throwIfAborted();
    await withSnapshot(disk, locking, closing.signal, async (found) => {
      const locked = await locking;
      const clonable = (options.fill ?? "all") === "all" ? found.base : undefined;
      const files = await DiskFiles.open(locked, found.manifest, clonable);
      let keeping: Promise<void> | undefined;
      try {
        await run({ ...disk, ...found, files, closing }, (open) => {
          // From now on, the signal of the caller has no effect.
          options.signal?.removeEventListener("abort", abort);
          onOpen(open);
          if (disk.location.kind !== "file") keeping = locked.keepManifest(found.manifest);
        });
      } finally {
        await keeping;
        await files.close();
      }
    });
  } finally {
    options.signal?.removeEventListener("abort", abort);
    // If the disk could not be opened, its trace may still be on the way.
    closing.abort();
    const locked = await locking.catch(() => undefined);
    await locked?.close();
  }
}

/** Finds the manifest of a snapshot, and the image in the cache that has most of it. */
async function withSnapshot(
  { location, path: name, isNew, digest, bases, cache, trace: given, options }: DiskToOpen,
  locking: Promise<LockedDisk>,
  signal: AbortSignal,
  use: (found: FoundSnapshot) => Promise<void>,
): Promise<void> {
  const kept = digest && !isNew && (await (await locking).keptManifest(digest));
  // An image that is complete needs no request, nor does one that is in the cache.
  const local = { name, trace: Promise.resolve(undefined), withObjects: withNoObjects };
  if (kept && (await locking).isPublished)
    return use({ ...local, manifest: kept, base: undefined });
  const pinned = cache && digest && (await leaseCached(cache, digest));
  if (pinned) {
    const { manifest } = pinned;
    return withLeased(pinned, manifest, (base) => use({ ...local, manifest, base }));
  }
  const isRead = given !== undefined && "kind" in given;
  const trace = isRead ? readTrace(given, { ...options, signal }) : Promise.resolve(given);
  const how = {
    options: { ...options, signal },
    wanted: "disk" as const,
    startsWorkers: options.fill !== "none",
    bases,
  };
  // Readers who want errors get those of the server at once.
  if (kept && location.kind !== "file" && options.onStall !== "error") {
    const withObjects = openedLater(location, how, kept.info, signal);
    return withBaseImage(cache, kept, (base) =>
      use({ name, manifest: kept, base, trace, withObjects }),
    );
  }
  const source = await openSource(location, how);
  try {
    const manifest = await source.manifest();
    checkPinned(source.name, digest, manifest.info.digest);
    const withObjects: WithDiskObjects = async (job, useObjects) => {
      const objects = await source.openObjects(job, signal);
      await useObjects({ opened: Promise.resolve(objects), fetchers: source.fetchers });
    };
    await withBaseImage(cache, manifest, (base) =>
      use({ name: source.name, manifest, base, trace, withObjects }),
    );
  } finally {
    await source.close();
  }
}

const withNoObjects: WithDiskObjects = (_job, use) => use({ opened: Promise.resolve([]) });

/** A disk whose files are open. */
interface OpenedDisk extends Omit<DiskToOpen, "trace">, FoundSnapshot {
  readonly files: DiskFiles;
  /** Aborted when the disk is closed. */
  readonly closing: AbortController;
}

async function run(opened: OpenedDisk, onOpen: OnOpen): Promise<void> {
  const { name, manifest, base, files, path, options, closing } = opened;
  const { signal } = closing;
  const image = {
    fd: files.file.fd,
    name: path,
    journal: undefined,
    niceness: NICENESS,
    mayHoldData: files.mayHoldData,
    written: files.sets.written,
  };
  const isInherited = (frame: number) => base?.frames.has(frame) && !files.hasFrame(frame);
  const isMissing = (frame: number) => !files.hasFrame(frame) && !isInherited(frame);
  const job = new DecodeJob(name, manifest, image, isMissing);
  const { states } = job;
  for (const frame of base?.frames ?? []) if (isInherited(frame)) states.inherit(frame);
  files.track(states);
  const system = await libc();
  if (system === undefined) throw new SnapshotError("ERR_TARGET", "disks need koffi");
  const layout = new ImageLayout(manifest);
  const transfer = transferOf(options);
  await opened.withObjects(job, async (objects) => {
    const latency = new DemandLatency();
    void objects.opened.then(
      (all) => {
        const tail = all.find((object) => object instanceof RemoteObject);
        if (tail !== undefined) latency.begin(tail.duration);
      },
      () => {},
    );
    const sink = await job.sinkData();
    // From here to the listener, nothing waits: an abort before it would go unnoticed.
    signal.throwIfAborted();
    const unkept = new UnkeptFrames(manifest.frames, () => {
      if (!monitor.isFull) void reportFull({ files, job, monitor });
    });
    const diskImage = new DiskImage(files, layout, states, base, unkept, system);
    const readers = forReaders(transfer, options);
    const demand = new DemandFetcher(sink, objects, readers, latency, job, unkept);
    const traceHits = new TraceHits(job, diskImage);
    job.isInTheWay = () => latency.isSlow && !demand.isBulk;
    job.canWait = () => traceHits.isServing && !demand.isBulk;
    const recorder = new TraceRecorder(layout.size, (start, end) => traceHits.read(start, end));
    const { counters } = job;
    const { digest } = manifest.info;
    const monitor = new DiskMonitor(resolve(path), digest, opened.begun, counters, traceHits);
    const isReadOnly = options.readOnly ?? false;
    const engine = new DiskEngine(diskImage, demand, recorder, monitor, isReadOnly);
    const saver = new DiskSaver({
      image: diskImage,
      engine,
      states,
      manifest,
      location: opened.location,
      cache: opened.cache,
      options,
      signal,
    });
    monitor.opened();
    const filled = monitor.measureFill(async () => {
      await unlessAborted(Promise.resolve(opened.ready), signal);
      await fillDisk({
        files,
        base,
        job,
        objects: objects.opened,
        fetchers: objects.fetchers,
        transfer,
        options,
        layout,
        monitor,
        trace: opened.trace,
        signal,
      });
    });
    const closed = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const end = new SnapshotError("ERR_DISK_CLOSED", "the disk was closed");
    onOpen({
      info: manifest.info,
      engine,
      saver,
      recorder,
      monitor,
      filled,
      location: opened.location,
      options,
      progress: () => ({ bytes: counters.counts.bytes, totalBytes: job.totalBytes }),
      close: () => closing.abort(end),
    });
    await closed;
    await engine.close(end);
    await saver.settled();
    await filled.catch(() => {});
  });
}

/** Returns how readers' requests are made. Those who wait for the server retry until the disk is closed. */
function forReaders(transfer: Transfer, { onStall = "wait" }: OpenOptions): Transfer {
  return onStall === "wait" ? { ...transfer, retries: UNTIL_ANSWERED } : transfer;
}
