/** The transfer of a range over one connection, and of the frames in it to the sink. */
import { pause } from "../abort.js";
import type { FrameSink } from "../decode/frame-sink.js";
import type { MissingFrames } from "../decode/frame-states.js";
import type { EmittedEvent, RequestEvent } from "../events.js";
import type { Download } from "../http/download.js";
import { RequestFailure } from "../http/failure.js";
import type { HttpClient } from "../http/get.js";
import { checkPart, NO_CACHE, rangeHeaders } from "../http/object-version.js";
import type { FetchData, FetchedObject, PrefetchedBytes } from "./fetch-worker.js";
import type { RangeScheduler, ScheduledRange } from "./range-scheduler.js";
import { now } from "./range-timings.js";

/** How often a transfer looks at frames that another thread is writing, in milliseconds. */
const POLL_INTERVAL = 1;

/** How many times slower than average a stalled range is. */
const STALLED_FACTOR = 20;

/** How long a request must have been running before it counts as stalled, in milliseconds. */
const MIN_ELAPSED = 2_000;

/** How many times a transfer may be given up. If it still stalls after that, the connection is not to blame. */
const MAX_GIVE_UPS = 2;

/** The state that the transfers of a worker share. */
export interface TransferContext {
  readonly data: FetchData;
  readonly sink: FrameSink;
  readonly scheduler: RangeScheduler;
  readonly missing: MissingFrames;
  /** The client of each object. */
  readonly clients: readonly (HttpClient | undefined)[];
  readonly emit: (event: EmittedEvent) => void;
  /** Renews the location of an object, by its number, and replaces its client. Returns whether it could. */
  readonly renew?: (object: number) => Promise<boolean>;
}

/** The transfer of a range over one connection: its requests, one after the other, and the frames they bring. */
export class RangeTransfer {
  readonly range: ScheduledRange;
  /** Whether the current request was given up. */
  isGivenUp = false;
  readonly #context: TransferContext;
  readonly #slot: number;
  readonly #number: number;
  readonly #object: FetchedObject;
  readonly #controller = new AbortController();
  /** How often the transfer was given up because it stalled. */
  #timesGivenUp = 0;
  #download: Download | undefined;
  #stream: FrameStream | undefined;
  #wasDamaged = false;

  /** @param slot the slot of the decoder that belongs to the connection */
  constructor(context: TransferContext, range: ScheduledRange, slot: number) {
    this.#context = context;
    this.range = range;
    this.#slot = slot;
    this.#number = context.sink.frames.object(range.first);
    const object = context.data.objects[this.#number];
    if (object === undefined) throw new Error(`object ${this.#number} is not open`);
    this.#object = object;
  }

  /** The name of the object in messages. */
  get name(): string {
    return this.#object.name;
  }

  get isHedge(): boolean {
    return this.range.kind === "hedge";
  }

  /** Whether every frame of the range is decoded, by this transfer or another one. */
  get isDone(): boolean {
    return this.#context.missing.hasNone(this.range);
  }

  /** Aborted when the range is no longer needed. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The number of bytes in the missing frames, including the part of the first one that has arrived. */
  get missingBytes(): number {
    return this.#context.missing.lengthOf(this.range);
  }

  /** The number of bytes to request. */
  get bytesLeft(): number {
    const missing = this.#context.missing.bytesOf(this.range);
    if (missing === undefined) return 0;
    const resumed = this.#stream?.hasPartOf(missing.first) ? this.#stream.position : undefined;
    return missing.end - (resumed ?? missing.start);
  }

  /** Ends the transfer. */
  abort(): void {
    this.#controller.abort();
  }

  /** Fails the current request if it has stalled. `fetchRange` then repeats it on a new connection. */
  giveUpIfStalled(): void {
    if (this.isHedge || this.isGivenUp || this.#timesGivenUp === MAX_GIVE_UPS) return;
    const { timings } = this.#context.scheduler;
    const { index } = this.range;
    if (timings.elapsed(index) < MIN_ELAPSED) return;
    if (timings.slowdown(index, this.missingBytes) <= STALLED_FACTOR) return;
    this.isGivenUp = true;
    this.#timesGivenUp += 1;
    this.#download?.cancel();
  }

  /** Renews the location of the object, if that is possible. Returns whether it was. */
  async renew(): Promise<boolean> {
    return (await this.#context.renew?.(this.#number)) ?? false;
  }

  /** Forgets a frame that is partly received, because its bytes are damaged. From now on, caches are bypassed. */
  discardPartialFrame(): void {
    this.#stream = undefined;
    this.#wasDamaged = true;
  }

  /** Decodes prefetched bytes. @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT` if they are damaged */
  decode({ bytes, offset }: PrefetchedBytes): void {
    const { index, first } = this.range;
    const received = this.#context.scheduler.timings.receivedOf(index);
    this.#streamFrom(first).push(new Uint8Array(bytes, offset, received));
  }

  /**
   * Requests the missing bytes once. If other threads are writing the last frames, waits a little instead.
   *
   * @throws {RequestFailure} and what decoding throws
   */
  async request(): Promise<void> {
    const { sink, scheduler, missing } = this.#context;
    const { version } = this.#object;
    const { index } = this.range;
    const bytes = missing.bytesOf(this.range);
    if (bytes === undefined) return pause(POLL_INTERVAL, this.signal).catch(() => {});
    const stream = this.#streamFrom(bytes.first);
    const wanted = { start: stream.position, end: bytes.end };
    if (this.isHedge) sink.counters.hedged();
    this.emit((event) => ["hedgerow:snapshot:request", event]);
    const begun = now();
    const headers = rangeHeaders(wanted, version);
    const download = this.#client.get(this.#wasDamaged ? { ...headers, ...NO_CACHE } : headers);
    this.#download = download;
    const cancel = () => download.cancel();
    this.signal.addEventListener("abort", cancel, { once: true });
    try {
      await download.response(async (response) => {
        checkPart(response, wanted, version);
        let left = wanted.end - wanted.start;
        await download.body((chunk) => {
          sink.counters.received(chunk.length);
          left -= chunk.length;
          if (!this.isHedge) scheduler.timings.received(index, chunk.length);
          stream.push(chunk);
          if (left < 0) throw new RequestFailure("the response was too long", true);
        });
      });
      if (this.bytesLeft > 0) throw new RequestFailure("the response was too short", true);
      scheduler.timings.completed(now() - begun, wanted.end - wanted.start);
    } finally {
      this.signal.removeEventListener("abort", cancel);
      download.cancel();
    }
  }

  /** Emits an event about the missing bytes of the range, if any event has a subscriber. */
  emit(eventOf: (event: RequestEvent) => EmittedEvent): void {
    const { data, missing, emit } = this.#context;
    if (!data.hasListeners) return;
    const { start, end } = missing.bytesOf(this.range) ?? { start: 0, end: 0 };
    emit(eventOf({ url: this.#object.url, start, end, isHedge: this.isHedge }));
  }

  get #client(): HttpClient {
    const client = this.#context.clients[this.#number];
    if (client === undefined) throw new Error(`object ${this.#number} has no client`);
    return client;
  }

  /** Returns the stream that continues a partly received frame, or one that begins with the frame. */
  #streamFrom(first: number): FrameStream {
    if (this.#stream?.hasPartOf(first)) return this.#stream;
    this.#stream = new FrameStream(this.#context.sink, this.#slot, first, this.range.end);
    return this.#stream;
  }
}

/** Cuts a stream of consecutive bytes of a snapshot into frames, and passes the missing ones to the sink. */
class FrameStream {
  readonly #sink: FrameSink;
  readonly #slot: number;
  readonly #end: number;
  /** The frame that is being received, or comes next. */
  #index: number;
  /** The offset in the snapshot of that frame, or of the bytes to skip before it. */
  #position: number;
  /** The address of that frame in the sink's memory, and how many of its bytes are there. */
  #start = 0;
  #filled = 0;

  /** @param first the frame with which the bytes begin; they end before the frame `end` */
  constructor(sink: FrameSink, slot: number, first: number, end: number) {
    this.#sink = sink;
    this.#slot = slot;
    this.#index = first - 1;
    this.#end = end;
    this.#position = sink.frames.fileOffset(first);
    this.#next();
  }

  /** Returns whether a frame is partly received. */
  hasPartOf(index: number): boolean {
    return this.#index === index && this.#filled > 0;
  }

  /** The offset of the next byte in the snapshot. */
  get position(): number {
    return this.#position + this.#filled;
  }

  /** @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`, `ERR_TARGET` */
  push(bytes: Uint8Array): void {
    const { frames } = this.#sink;
    for (let at = 0; at < bytes.length && this.#index < this.#end; ) {
      const before = frames.fileOffset(this.#index) - this.#position;
      if (before > 0) {
        const skipped = Math.min(before, bytes.length - at);
        at += skipped;
        this.#position += skipped;
        continue;
      }
      const missing = frames.compressedLength(this.#index) - this.#filled;
      const count = Math.min(missing, bytes.length - at);
      const part = bytes.subarray(at, at + count);
      this.#sink.view(this.#start + this.#filled, count).set(part);
      at += count;
      this.#filled += count;
      if (count < missing) continue;
      this.#position += this.#filled;
      this.#sink.finish(this.#slot, this.#index, this.#filled);
      this.#next();
    }
  }

  #next(): void {
    this.#index = this.#sink.states.firstMissing(this.#index + 1, this.#end) ?? this.#end;
    this.#filled = 0;
    if (this.#index < this.#end) this.#start = this.#sink.begin(this.#slot, this.#index);
  }
}
