import { dirname } from "node:path";
import { checkInteger, checkOptions } from "../check.js";
import type { CreateInfo } from "../delta/create-delta.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import type { SnapshotInfo } from "../format/manifest.js";
import type { TransferOptions } from "../http/transfer.js";
import { checkDifferentPath } from "../local/open-file.js";
import { type Location, locationOf, safeLocation } from "../location/location.js";
import { writeSmallObject } from "../location/small-object.js";
import { type Listen, type ListenOptions, listenOf, NbdServer } from "../nbd/server.js";
import { WriteLayer } from "../nbd/write-layer.js";
import type { DiskEngine } from "./engine.js";
import { type DiskSaver, inFullIfTooLarge, SAVE_CHECKS, type SaveOptions } from "./save-disk.js";
import type { DiskMonitor, DiskStats } from "./statistics.js";
import { type Trace, type TraceRecorder, traceLocation } from "./trace.js";

/** How much of a disk has arrived. */
export interface DiskProgress {
  /** The number of bytes of the image that are data, and were not there when the disk was opened. */
  readonly totalBytes: number;
  /** How many of them have arrived. */
  readonly bytes: number;
}

/** What a disk that is open consists of. */
export interface OpenDisk {
  readonly info: SnapshotInfo;
  readonly engine: DiskEngine;
  readonly saver: DiskSaver;
  readonly recorder: TraceRecorder;
  /** Returns whether a trace was looked for and not found. */
  readonly lacksTrace: () => boolean;
  readonly monitor: DiskMonitor;
  readonly location: Location;
  /** The options of transfers. */
  readonly options: TransferOptions;
  readonly filled: Promise<void>;
  readonly progress: () => DiskProgress;
  /** Notes when the image will be removed once the disk is closed: it need not be durable then. */
  readonly removeIf: (isUnneeded: () => boolean) => void;
  /** Starts to close the disk. */
  readonly close: () => void;
  /** Settles when the disk is closed. */
  readonly closed: () => Promise<void>;
}

/** A disk that is open: it can be read and written to before its image has arrived. */
export abstract class BlockDevice {
  /** The metadata of the snapshot. */
  readonly info: SnapshotInfo;
  /**
   * Resolves when the image is complete: it is then an ordinary file at its path. Rejected if it will not be, because
   * the snapshot cannot be read, or the disk was closed.
   */
  readonly filled: Promise<void>;
  /** @internal */
  protected readonly open: OpenDisk;
  /** Those that listen or begin to. */
  readonly #servers = new Set<Promise<NbdServer>>();
  #isClosing = false;

  /** @internal */
  constructor(open: OpenDisk) {
    this.open = open;
    this.info = open.info;
    this.filled = open.filled;
  }

  /** The absolute path of the image. */
  get image(): string {
    return this.open.monitor.image;
  }

  /** The size of the disk, in bytes. */
  get size(): number {
    return this.info.imageSize;
  }

  /** Whether the disk refuses writes. */
  get readOnly(): boolean {
    return this.open.engine.isReadOnly;
  }

  /** How much of the disk has arrived. */
  get progress(): DiskProgress {
    return this.open.progress();
  }

  /** Returns how soon the disk could be used, how long its readers have waited, and how its data arrived. */
  stats(): DiskStats {
    return this.open.monitor.stats;
  }

  /** The number of bytes in blocks of 4 KiB that were written since the last save. */
  get changedBytes(): number {
    return this.open.saver.changedBytes;
  }

  /**
   * Reads bytes. Fetches and verifies those that have not arrived.
   *
   * @throws {SnapshotError} `ERR_ARGUMENT`, `ERR_DISK_CLOSED`, and what `restoreSnapshot` throws
   */
  async read(offset: number, length: number): Promise<Buffer> {
    this.#checkRange(offset, length);
    const bytes = Buffer.allocUnsafe(length);
    const { engine } = this.open;
    while (!engine.readNow(offset, bytes)) await engine.load(offset, length);
    return bytes;
  }

  /**
   * Writes bytes. After the next {@link flush} they survive a power failure.
   *
   * @throws {SnapshotError} `ERR_ARGUMENT`, `ERR_DISK_CLOSED`, `ERR_TARGET`, and what {@link read} throws
   */
  async write(offset: number, bytes: Uint8Array): Promise<void> {
    if (!(bytes instanceof Uint8Array)) {
      throw new SnapshotError(
        "ERR_ARGUMENT",
        `bytes: expected a Uint8Array, found ${typeof bytes}`,
      );
    }
    this.#checkRange(offset, bytes.length);
    this.#checkWritable();
    await this.open.engine.write(offset, bytes);
  }

  /**
   * Forgets whole blocks of 4 KiB, which then read as zeros and take no space. Fetches nothing.
   *
   * @throws {SnapshotError} `ERR_ARGUMENT`, `ERR_DISK_CLOSED`, `ERR_TARGET`
   */
  async discard(offset: number, length: number): Promise<void> {
    this.#checkRange(offset, length);
    this.#checkWritable();
    await this.open.engine.discard(offset, length);
  }

  /** Makes everything durable that was written before the call. @throws {SnapshotError} `ERR_DISK_CLOSED`, `ERR_TARGET` */
  flush(): Promise<void> {
    return this.open.engine.flush();
  }

  /**
   * Serves the disk over NBD, until the server or the disk is closed.
   *
   * @throws {SnapshotError} `ERR_ARGUMENT`, `ERR_TARGET` if the address cannot be used, `ERR_DISK_CLOSED`
   */
  async listen(options: ListenOptions): Promise<NbdServer> {
    const listen = listenOf(options);
    if (this.#isClosing) throw closedError();
    const listening = this.#serve(listen);
    this.#servers.add(listening);
    const server = await listening.catch((error) => {
      this.#servers.delete(listening);
      throw error;
    });
    if (!this.#servers.has(listening)) throw closedError();
    return server;
  }

  async #serve(listen: Listen): Promise<NbdServer> {
    const { engine } = this.open;
    const folder = dirname(this.image);
    return NbdServer.listen(
      listen.discardWrites ? await WriteLayer.over(engine, folder) : engine,
      listen,
    );
  }

  /** The ranges that were read first, until 30 seconds after the disk was opened. */
  get trace(): Trace {
    return this.open.recorder.trace;
  }

  /** Closes all servers of the disk, also those that begin to listen. @internal */
  protected async closeServers(): Promise<void> {
    const closing = [...this.#servers].map(async (listening) => {
      // The caller of `listen` gets the error.
      const server = await listening.catch(() => undefined);
      await server?.close();
    });
    this.#servers.clear();
    await Promise.all(closing);
  }

  /** Closes the disk and its servers. @internal */
  protected async closeDisk(): Promise<void> {
    this.#isClosing = true;
    this.open.close();
    await this.closeServers();
    await this.open.closed();
  }

  #checkWritable(): void {
    if (this.readOnly) throw new SnapshotError("ERR_ARGUMENT", "the disk is read-only");
  }

  #checkRange(offset: number, length: number): void {
    checkInteger("offset", offset, 0, this.size);
    checkInteger("length", length, 0, this.size - offset);
  }
}

/** Returns the error of a server that can no longer serve the disk. */
function closedError(): SnapshotError {
  return new SnapshotError("ERR_DISK_CLOSED", "cannot listen: the disk was closed");
}

/** A disk whose image can be read and written to before it has arrived. Returned by `openSnapshot`. */
export class Disk extends BlockDevice {
  #closing: Promise<void> | undefined;

  /**
   * Saves the disk while it is in use: writes a delta relative to the last save, or else to the snapshot that was
   * opened. The delta has all earlier writes, and none that began after the copy.
   *
   * @param destination the path of the delta, or its URL: `file:`, `http:`, `https:`, `s3:`, `gs:` or `az:`
   * @throws {SnapshotError} what `createSnapshot` throws, `ERR_DISK_CLOSED`
   */
  async save(destination: string | URL, options: SaveOptions = {}): Promise<CreateInfo> {
    const begun = performance.now();
    options = checkOptions(options, SAVE_CHECKS);
    const location = locationOf("destination", destination);
    if (location.kind === "file")
      await checkDifferentPath("destination", location.path, this.image);
    const { saver } = this.open;
    const { info, pause } = await inFullIfTooLarge(() => saver.save({ location }, options));
    const written = info as SnapshotInfo;
    const duration = performance.now() - begun;
    const saved = { destination: safeLocation(location), bytes: written.fileSize, pause, duration };
    emit("hedgerow:disk:save", { image: this.image, ...saved });
    return { ...written, duration };
  }

  /**
   * Stores {@link trace}, so that the next disk fetches it first.
   *
   * @param destination its path or URL. Default: `<snapshot>.trace` beside the snapshot
   * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`
   */
  async saveTrace(destination?: string | URL): Promise<void> {
    const { location: snapshot, options } = this.open;
    const location =
      destination === undefined ? traceLocation(snapshot) : locationOf("destination", destination);
    if (location === undefined) {
      const message = "destination: expected one, because the URL of the snapshot has a query";
      throw new SnapshotError("ERR_ARGUMENT", message);
    }
    const text = `${JSON.stringify(this.trace)}\n`;
    await writeSmallObject(location, Buffer.from(text), { ...options, signal: undefined });
  }

  /**
   * Closes the disk: waiting readers get an error, and all writes become durable. The next `openSnapshot` of the
   * same image resumes the disk.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  close(): Promise<void> {
    this.#closing ??= this.closeDisk();
    return this.#closing;
  }

  /** Calls {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
