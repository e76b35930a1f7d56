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
import { openSource, type ReadWorkOptions } from "../location/source.js";
import { BACKGROUND } from "../workers/pool.js";
import { type BaseImage, openBaseImage, openLeased } from "./base-image.js";
import { DemandFetcher } from "./demand.js";
import type { OpenDisk } from "./disk.js";
import { DiskFiles } from "./disk-files.js";
import { DiskImage } from "./disk-image.js";
import { type DiskObjects, openLater } from "./disk-objects.js";
import { DiskEngine } from "./engine.js";
import { DemandLatency, type FillOptions, fillDisk, reportFull } from "./fill.js";
import { ImageLayout } from "./image-layout.js";
import { LockedDisk } from "./locked-disk.js";
import { DiskSaver } from "./save-disk.js";
import { DiskMonitor, TraceHits } from "./statistics.js";
import { readTrace, type Trace, TraceRecorder } from "./trace.js";
import { UnkeptFrames } from "./unkept-frames.js";

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
  /** The ranges that an earlier disk read first, or their location. */
  readonly trace: Trace | Location | undefined;
  readonly options: ReadWorkOptions & FillOptions;
  /** Whether it refuses writes. Default: `false`. */
  readonly isReadOnly?: boolean | undefined;
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
  /** Returns whether a trace was looked for and not found. */
  readonly lacksTrace: () => boolean;
  /** Opens the objects that have its missing frames. */
  objectsFor(job: DecodeJob): Promise<DiskObjects>;
  close(): Promise<void>;
}

/** Opens a disk, until it is closed. @throws {SnapshotError} what `openSnapshot` throws */
export function openDisk(disk: DiskToOpen): Promise<OpenDisk> {
  return new Promise((resolve, reject) => {
    const closed: Promise<void> = runDisk(disk, (open) =>
      resolve({ ...open, closed: () => closed }),
    );
    closed.catch(reject);
  });
}

/** Opens a disk, calls `onOpen` with it, and returns when it is closed. */
async function runDisk(disk: DiskToOpen, onOpen: OnOpen): Promise<void> {
  const { path, options } = disk;
  const closing = new AbortController();
  const abort = () => closing.abort(options.signal?.reason);
  options.signal?.addEventListener("abort", abort, { once: true });
  // At the same time, the snapshot is requested.
  const locking = disk.locked ?? LockedDisk.open(path);
  locking.catch(() => {});
  let found: FoundSnapshot | undefined;
  try {
    options.signal?.throwIfAborted();
    found = await findSnapshot(disk, locking, closing.signal);
    const { manifest } = found;
    const locked = await locking;
    const clonable = (options.fill ?? "all") === "all" ? found.base : undefined;
    const files = await DiskFiles.open(locked, manifest, clonable);
    let keeping: Promise<void> | undefined;
    try {
      await run(disk, found, files, closing, (open) => {
        // From now on, the signal of the caller has no effect.
        options.signal?.removeEventListener("abort", abort);
        onOpen(open);
        if (disk.location.kind !== "file") keeping = locked.keepManifest(manifest);
      });
    } finally {
      await keeping;
      await files.close();
    }
  } finally {
    options.signal?.removeEventListener("abort", abort);
    // If the disk could not be opened, its trace may still be on the way.
    closing.abort();
    await found?.close();
    const locked = await locking.catch(() => undefined);
    await locked?.close();
  }
}

/** Finds the manifest of a snapshot, and opens the image in the cache that has most of it. */
async function findSnapshot(
  { location, path: name, isNew, digest, bases, cache, trace: given, options }: DiskToOpen,
  locking: Promise<LockedDisk>,
  signal: AbortSignal,
): Promise<FoundSnapshot> {
  const kept = digest && !isNew && (await (await locking).keptManifest(digest));
  // An image that is complete needs no request, nor does one that is in the cache.
  const local = (manifest: Manifest, base: BaseImage | undefined): FoundSnapshot => ({
    name,
    manifest,
    base,
    trace: Promise.resolve(undefined),
    lacksTrace: () => false,
    objectsFor: async () => ({ opened: Promise.resolve([]) }),
    close: async () => base?.close(),
  });
  if (kept && (await locking).isPublished) return local(kept, undefined);
  const pinned = cache && digest && (await leaseCached(cache, digest));
  if (pinned) return local(pinned.manifest, await openLeased(pinned, pinned.manifest));
  const isRead = given !== undefined && "kind" in given;
  const trace = isRead ? readTrace(given, { ...options, signal }) : Promise.resolve(given);
  let isMissing = false;
  void trace.then((found) => {
    isMissing = isRead && found === undefined;
  });
  const lacksTrace = () => isMissing;
  const opening = {
    options: { ...options, signal },
    wanted: "disk" as const,
    startsWorkers: options.fill !== "none",
    bases,
  };
  // Readers who want errors get those of the server at once.
  if (kept && location.kind !== "file" && options.onStall !== "error") {
    const base = await openBaseImage(cache, kept);
    return {
      name,
      manifest: kept,
      base,
      trace,
      lacksTrace,
      objectsFor: (job) => openLater(location, opening, kept.info, job, signal),
      close: async () => base?.close(),
    };
  }
  const source = await openSource(location, opening);
  try {
    const manifest = await source.manifest();
    checkPinned(source.name, digest, manifest.info.digest);
    const base = await openBaseImage(cache, manifest);
    return {
      name: source.name,
      manifest,
      base,
      trace,
      lacksTrace,
      objectsFor: async (job) => {
        const objects = await source.objectsFor(job, signal);
        return { opened: Promise.resolve(objects), fetchers: source.fetchers };
      },
      close: async () => {
        await base?.close();
        await source.close();
      },
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function run(
  disk: DiskToOpen,
  found: FoundSnapshot,
  files: DiskFiles,
  /** Aborted when the disk is closed. */
  closing: AbortController,
  onOpen: OnOpen,
): Promise<void> {
  const { begun, location, path, cache, options, isReadOnly = false } = disk;
  const { name, manifest, base } = found;
  const { signal } = closing;
  const image = {
    fd: files.file.fd,
    name: path,
    journal: undefined,
    niceness: BACKGROUND,
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
  const objects = await found.objectsFor(job);
  try {
    const latency = new DemandLatency();
    void objects.opened.then(
      (all) => {
        const tail = all.find((object) => object instanceof RemoteObject);
        if (tail !== undefined) latency.begin(tail.duration);
      },
      () => {},
    );
    const sink = await job.sinkData();
    // Do not wait between here and the listener: an abort would go unnoticed.
    signal.throwIfAborted();
    const unkept = new UnkeptFrames(manifest.frames, () => {
      if (!monitor.isFull) void reportFull({ files, job, monitor });
    });
    const diskImage = new DiskImage(files, layout, states, base, unkept, system);
    const readers = forReaders(transfer, options);
    const demand = new DemandFetcher(sink, objects, readers, latency, job, unkept);
    const traceHits = new TraceHits(job, diskImage);
    job.isInTheWay = () => latency.isSlow && !demand.isBulk && !traceHits.isArriving;
    job.canWait = () => traceHits.isServing && !demand.isBulk;
    const recorder = new TraceRecorder(layout.size, (start, end) => traceHits.read(start, end));
    const { counters } = job;
    const { digest } = manifest.info;
    const monitor = new DiskMonitor(resolve(path), digest, begun, counters, traceHits);
    const engine = new DiskEngine(diskImage, demand, recorder, monitor, isReadOnly);
    const saver = new DiskSaver({
      image: diskImage,
      engine,
      states,
      manifest,
      location,
      cache,
      options,
      signal,
    });
    monitor.opened();
    const filled = monitor.measureFill(async () => {
      await unlessAborted(Promise.resolve(disk.ready), signal);
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
        trace: found.trace,
        signal,
      });
    });
    // Those who do not wait for it get the error from their reads.
    filled.catch(() => {});
    const closed = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const end = new SnapshotError("ERR_DISK_CLOSED", "the disk was closed");
    onOpen({
      info: manifest.info,
      engine,
      saver,
      recorder,
      lacksTrace: found.lacksTrace,
      monitor,
      filled,
      location,
      options,
      progress: () => ({ bytes: counters.counts.bytes, totalBytes: job.totalBytes }),
      removeIf: (isUnneeded) => files.removeIf(isUnneeded),
      close: () => closing.abort(end),
    });
    await closed;
    await engine.close(end);
    await saver.settled();
    await filled.catch(() => {});
  } finally {
    await objects.close?.();
  }
}

/** Returns the options for readers' requests. With `onStall: "wait"`, they retry until the disk is closed. */
function forReaders(transfer: Transfer, { onStall = "wait" }: FillOptions): Transfer {
  return onStall === "wait" ? { ...transfer, retries: UNTIL_ANSWERED } : transfer;
}
