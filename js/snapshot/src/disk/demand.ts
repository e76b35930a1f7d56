import type { DecodeJob } from "../decode/decode-job.js";
import { FrameSink, type SinkData } from "../decode/frame-sink.js";
import { FrameStates, MissingFrames } from "../decode/frame-states.js";
import { messageOf, SnapshotError } from "../error.js";
import { emit } from "../events.js";
import type { FetchData, FetchedObject } from "../fetch/fetch-worker.js";
import { RangeScheduler } from "../fetch/range-scheduler.js";
import { RangeTransfer, type TransferContext } from "../fetch/range-transfer.js";
import { fetchRange, isDamage } from "../fetch/retry-range.js";
import { nearFrames } from "../format/frames.js";
import { HttpClient } from "../http/get.js";
import { RemoteObject } from "../http/remote-object.js";
import type { Transfer } from "../http/transfer.js";
import { SnapshotFile } from "../local/open-file.js";
import { readFullySync } from "../local/read-write.js";
import { isUnkeepable, wrapSystemErrorsSync } from "../local/system-errors.js";
import type { OpenObjects } from "../location/open-object.js";
import type { DiskObjects } from "./disk-objects.js";
import type { DemandLatency } from "./fill.js";
import type { UnkeptFrames } from "./unkept-frames.js";

/** The maximum number of requests at a time. Each holds a compressed frame. */
const MAX_FLIGHTS = 16;

/** The most bytes that are requested at once. */
const MAX_RANGE = 2 ** 22;

/** How often to look at frames that another thread is writing, in milliseconds. */
const POLL_INTERVAL = 1;

/** How long this thread takes to decode a frame and to write it, in milliseconds: about as long as for 1 MiB. */
const FRAME_COST = 3;

/** Readers who wait for at least this many frames read in bulk: throughput matters more to them than latency. */
const BULK_FRAMES = 8;

/** How long readers in bulk wait for frames that are being fetched already, in milliseconds. */
const BULK_PATIENCE = 1_000;

/** Readers that wait for a frame. */
interface Waiting {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
  /** When the first of them asked, as `performance.now()` says. */
  readonly since: number;
  /** Whether a request for the frame is running. */
  isRequested: boolean;
}

/** The states of frames for readers: one that is in memory need not be fetched. */
class ReadableStates extends FrameStates {
  constructor(
    buffer: SharedArrayBuffer,
    private readonly unkept: UnkeptFrames,
  ) {
    super(buffer);
  }

  override isDone(index: number): boolean {
    return super.isDone(index) || this.unkept.has(index);
  }

  override isTaken(index: number): boolean {
    return super.isTaken(index) || this.unkept.has(index);
  }
}

/** A frame sink that reports the frames that can be read: they are in the image, or in memory if that has no room. */
class ReportingSink extends FrameSink {
  readonly #unkept: UnkeptFrames;
  readonly #onDone: (frame: number) => void;

  constructor(data: SinkData, unkept: UnkeptFrames, onDone: (frame: number) => void) {
    super(data, new ReadableStates(data.states, unkept));
    this.#unkept = unkept;
    this.#onDone = onDone;
  }

  protected override spare(index: number, data: Uint8Array, error: unknown): boolean {
    if (!isUnkeepable(error)) return false;
    this.#unkept.add(index, data.slice(), error);
    return true;
  }

  override finish(slot: number, index: number, count: number): void {
    super.finish(slot, index, count);
    if (this.states.isDone(index)) this.#onDone(index);
  }
}

/** Fetches the frames that readers wait for. All readers of a frame share one request. */
export class DemandFetcher {
  readonly #sink: ReportingSink;
  readonly #opened: Promise<OpenObjects>;
  /** The open objects; undefined until then. */
  #objects: OpenObjects | undefined;
  /** How objects are read. */
  #context: Omit<TransferContext, "scheduler">;
  readonly #clients: HttpClient[] = [];
  readonly #waiting = new Map<number, Waiting>();
  /** Frames that are requested alone, because a frame of the same request was damaged. */
  readonly #alone = new Set<number>();
  readonly #slots = Array.from({ length: MAX_FLIGHTS }, (_, slot) => slot);
  readonly #flights = new Map<RangeTransfer, Promise<void>>();
  #isScheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #closed: { readonly reason: unknown } | undefined;

  constructor(
    data: SinkData,
    { opened, assumed }: DiskObjects,
    private readonly transfer: Transfer,
    private readonly latency: DemandLatency,
    private readonly job: Pick<DecodeJob, "arrivals">,
    unkept: UnkeptFrames,
  ) {
    this.#sink = new ReportingSink(data, unkept, (frame) => this.#settle(frame));
    const { frames, states } = this.#sink;
    this.#context = {
      // A request that fails is not retried before the object is open.
      data: this.#fetchData(data, [assumed], { ...transfer, retries: 0 }),
      sink: this.#sink,
      missing: new MissingFrames(frames, states),
      clients: this.#clientsOf([assumed]),
      emit: (event) => emit(...event),
    };
    this.#opened = opened;
    opened.then(
      (objects) => {
        this.#objects = objects;
        const remote = objects.map((one) => (one instanceof RemoteObject ? one : undefined));
        const clients = this.#clientsOf(remote);
        this.#context = {
          ...this.#context,
          data: this.#fetchData(data, remote, transfer),
          clients,
          renew: (object) => this.#renew(object, clients),
        };
      },
      // Readers get the error.
      () => {},
    );
  }

  #fetchData(
    data: SinkData,
    objects: readonly (FetchedObject | undefined)[],
    transfer: Transfer,
  ): FetchData {
    return { ...data, transfer, objects, workers: 1, hasListeners: true };
  }

  /** Returns a client for each object: that with its open connection, if there is one. */
  #clientsOf(objects: readonly (FetchedObject | undefined)[]): (HttpClient | undefined)[] {
    const clients: (HttpClient | undefined)[] = [];
    for (const object of objects) {
      const kept = object instanceof RemoteObject ? object.client : undefined;
      const client =
        object && (kept ?? new HttpClient(object.endpoint, this.transfer.timeouts, clients));
      clients.push(client);
      if (client !== undefined) this.#clients.push(client);
    }
    return clients;
  }

  /** Renews the location of an object, and replaces its client among `clients`. Returns whether that was possible. */
  async #renew(number: number, clients: (HttpClient | undefined)[]): Promise<boolean> {
    const object = this.#objects?.[number];
    if (!(object instanceof RemoteObject)) return false;
    try {
      await object.renew();
    } catch {
      // The reader gets the error of its own request.
      return false;
    }
    if (this.#closed !== undefined) return false;
    const { endpoint } = object;
    // All requests for the same object renew it together.
    if (clients[number]?.endpoint.url !== endpoint.url) {
      const client = new HttpClient(endpoint, this.transfer.timeouts, clients);
      clients[number] = client;
      this.#clients.push(client);
    }
    return true;
  }

  /**
   * Returns a promise for a frame to be in the image. Calls of the same turn of the event loop share requests.
   *
   * @throws {SnapshotError} what reading the snapshot throws
   */
  fetch(frame: number): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed.reason);
    const existing = this.#waiting.get(frame);
    if (existing !== undefined) return existing.promise;
    const waiting = newWaiting();
    this.#waiting.set(frame, waiting);
    this.#schedule();
    return waiting.promise;
  }

  /** Whether readers read in bulk. A fill brings what they need. */
  get isBulk(): boolean {
    return this.#waiting.size >= BULK_FRAMES;
  }

  /** Rejects all readers, and waits until no request is running. */
  async close(reason: unknown): Promise<void> {
    this.#closed ??= { reason };
    clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
    for (const transfer of this.#flights.keys()) transfer.abort();
    await Promise.allSettled(this.#flights.values());
    for (const client of this.#clients) client.close();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  /** Starts requests for the frames that have none. */
  #start(): void {
    const { states, frames } = this.#sink;
    const wanted: number[] = [];
    for (const [frame, waiting] of this.#waiting) {
      // If it could not be copied from the image of a base, it is read there.
      if (states.isDone(frame) || states.isInherited(frame)) this.#settle(frame);
      else if (states.isTaken(frame)) this.#poll();
      else if (waiting.isRequested) continue;
      else if (this.#decodePrefetched(frame)) continue;
      else if (this.#isExpected(frame, waiting)) this.#poll();
      else wanted.push(frame);
    }
    const near = wanted.filter((frame) => !this.#alone.has(frame));
    const alone = wanted.filter((frame) => this.#alone.has(frame)).map((frame) => [frame]);
    const ranges = nearFrames(frames, near, MAX_RANGE).map(({ frames: those }) => those);
    for (const range of [...ranges, ...alone]) {
      const slot = this.#slots.pop();
      // The others follow when a request has ended.
      if (slot === undefined) return;
      for (const frame of range) (this.#waiting.get(frame) as Waiting).isRequested = true;
      void this.#fly(range, slot);
    }
  }

  /**
   * Returns whether a frame is already being fetched and will arrive sooner than by a separate request, in view of
   * those of all readers.
   */
  #isExpected(frame: number, { since }: Waiting): boolean {
    const { fastest } = this.latency;
    const { size } = this.#waiting;
    const own = fastest / 2 + (size - 1) * FRAME_COST;
    const { isBulk } = this;
    const patience = isBulk ? Math.max(own, BULK_PATIENCE) : own;
    const left = since + patience - performance.now();
    if (left <= 0) return false;
    if (this.#prefetched(frame) === "coming") return true;
    return (this.job.arrivals?.in(frame, fastest, isBulk) ?? Infinity) < left;
  }

  /** Serves the readers of a frame whose bytes came when the snapshot was opened. Returns false for other frames. */
  #decodePrefetched(frame: number): boolean {
    const [slot, bytes] = [this.#slots.at(-1), this.#prefetched(frame)];
    if (slot === undefined || bytes === undefined || bytes === "coming") return false;
    try {
      this.#decode(frame, slot, (input) => {
        input.set(bytes);
        return bytes.length;
      });
      this.#settle(frame);
    } catch (error) {
      // Damaged bytes are requested again.
      if (isDamage(error)) return false;
      this.#settle(frame, error);
    }
    return true;
  }

  /** Returns the bytes of a frame that were requested when the snapshot was opened; undefined if they will not come. */
  #prefetched(frame: number): Uint8Array | "coming" | undefined {
    const { frames } = this.#sink;
    const object = this.#objects?.[frames.object(frame)];
    if (!(object instanceof RemoteObject)) return undefined;
    const start = frames.fileOffset(frame);
    return object.prefix?.part(object.version, start, start + frames.compressedLength(frame));
  }

  /** Fetches a range of frames. */
  async #fly(range: readonly number[], slot: number): Promise<void> {
    const begun = performance.now();
    const isAlone = this.#slots.length === MAX_FLIGHTS - 1;
    try {
      const isAssumed = this.#objects === undefined;
      await this.#read(range, slot).catch(async (error: unknown) => {
        if (!isAssumed) throw error;
        await this.#opened;
        await this.#read(range, slot);
      });
      // Requests for many frames take longer, and so do many requests, whatever the fill does.
      if (range.length === 1 && isAlone) this.latency.add(performance.now() - begun);
    } catch (error) {
      const isShared = range.length > 1 && isDamage(error);
      for (const frame of range) {
        if (this.#sink.states.isTaken(frame)) continue;
        if (isShared) this.#alone.add(frame);
        else this.#settle(frame, error);
      }
    } finally {
      this.#slots.push(slot);
      for (const frame of range) {
        const waiting = this.#waiting.get(frame);
        if (waiting !== undefined) waiting.isRequested = false;
      }
      if (this.#waiting.size > 0 && this.#closed === undefined) this.#schedule();
    }
  }

  async #read(range: readonly number[], slot: number): Promise<void> {
    const [first, last] = [range[0] as number, range.at(-1) as number];
    const number = this.#sink.frames.object(first);
    if (this.#context.clients[number] === undefined) await this.#opened;
    // Nothing may be written after the files were closed.
    if (this.#closed !== undefined) throw this.#closed.reason;
    const object = this.#objects?.[number];
    if (object instanceof SnapshotFile) this.#readFrames(object, range, slot);
    else await this.#transfer(first, last + 1, slot);
  }

  async #transfer(first: number, end: number, slot: number): Promise<void> {
    const scheduler = RangeScheduler.of(Uint32Array.of(first, end), 1, 0);
    const context = { ...this.#context, scheduler };
    const transfer = new RangeTransfer(context, { index: 0, first, end, kind: "fetch" }, slot);
    const flight = fetchRange(transfer, context);
    this.#flights.set(transfer, flight);
    try {
      await flight;
    } finally {
      this.#flights.delete(transfer);
    }
  }

  #readFrames(file: SnapshotFile, range: readonly number[], slot: number): void {
    const { frames, states } = this.#sink;
    for (const frame of range) {
      if (states.isTaken(frame)) continue;
      this.#decode(frame, slot, (input) =>
        wrapSystemErrorsSync("ERR_SOURCE", `cannot read ${file.name}`, () =>
          readFullySync(file.fd, input, frames.fileOffset(frame)),
        ),
      );
    }
  }

  /** Decodes a frame. @param fill writes its compressed bytes, and returns how many there are */
  #decode(frame: number, slot: number, fill: (input: Uint8Array) => number): void {
    const length = this.#sink.frames.compressedLength(frame);
    const count = fill(this.#sink.view(this.#sink.begin(slot, frame), length));
    this.#sink.finish(slot, frame, count);
  }

  /** Ends the wait for a frame. */
  #settle(frame: number, error?: unknown): void {
    const waiting = this.#waiting.get(frame);
    if (waiting === undefined) return;
    this.#waiting.delete(frame);
    if (error === undefined) waiting.resolve();
    else waiting.reject(error instanceof SnapshotError ? error : failureOf(error));
  }

  /** Checks the frames that other threads are writing. */
  #poll(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#start();
    }, POLL_INTERVAL);
  }
}

function newWaiting(): Waiting {
  const settle: Partial<Waiting> = {};
  const promise = new Promise<void>((resolve, reject) =>
    Object.assign(settle, { resolve, reject }),
  );
  // A prefetch has no reader.
  promise.catch(() => {});
  const since = performance.now();
  return { ...(settle as Waiting), promise, since, isRequested: false };
}

function failureOf(cause: unknown): SnapshotError {
  return new SnapshotError("ERR_WORKER", `cannot fetch: ${messageOf(cause)}`, { cause });
}
