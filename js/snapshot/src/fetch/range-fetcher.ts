import { pause } from "../abort.js";
import type { FrameSink, SinkData } from "../decode/frame-sink.js";
import { SnapshotError } from "../error.js";
import type { EmittedEvent, RequestEvent } from "../events.js";
import { type Endpoint, HttpClient } from "../http/read/client.js";
import type { Download } from "../http/read/download.js";
import {
  type ByteRange,
  checkPart,
  type ObjectVersion,
  rangeHeaders,
} from "../http/read/object-version.js";
import { RequestFailure, requestFailureOf } from "../http/request-failure.js";
import { nextDelay } from "../http/with-retries.js";
import type { Transfer } from "../options/transfer-options.js";
import { FrameStream } from "./frame-stream.js";
import { reportExternalMemory } from "./gc-pressure.js";
import {
  type FrameRange,
  now,
  RangeScheduler,
  type SchedulerData,
  type Task,
} from "./range-scheduler.js";

/** What a thread that fetches begins with. */
export interface FetchData extends SinkData {
  readonly endpoint: Endpoint;
  readonly version: ObjectVersion;
  readonly transfer: Transfer;
  /** How many threads there are. */
  readonly workers: number;
  /** Whether anyone listens to events. */
  readonly hasListeners: boolean;
}

/** Bytes of the file that were asked for before its ranges were known. */
export interface EarlyBytes {
  /** Where they lie in the file. */
  readonly start: number;
  readonly bytes: SharedArrayBuffer;
}

/** What is to be fetched. */
export interface Ranges {
  readonly scheduler: SchedulerData;
  /** How many frames are to be done when all are fetched, those of earlier runs included. */
  readonly frames: number;
  /** How many bytes the ranges have. */
  readonly bytes: number;
  /** What was asked for before, when the ledger says that it is there. */
  readonly early: readonly EarlyBytes[];
}

/** How often a thread looks at what others do, in milliseconds. */
const TICK = 20;

/** How often a frame is asked for again that is not what the manifest says. */
const MAX_REFUSED = 2;

/** How many bytes a try has to bring for the count to begin anew, if they are no whole frame: fewer are a drip. */
const LEAST_PROGRESS = 2 ** 16;

/** The statuses of a server that has too much to do. */
const BUSY: ReadonlySet<unknown> = new Set([429, 503]);

/** How many times as long as usual something takes that is given up after some milliseconds, and asked for anew. */
const [HOPELESS, HOPELESS_AFTER] = [20, 2_000];

/** How often a range is given up like that: if it is no better then, it is not the connection. */
const MAX_GIVEN_UP = 2;

/** What is done with a range over one connection. */
interface Flight {
  readonly range: Task;
  readonly controller: AbortController;
  /** What comes of it now. */
  download?: Download;
  /** What came of it before. */
  stream?: FrameStream | undefined;
  /** Whether it was given up for being slow, and how often. */
  isGivenUp?: boolean;
  timesGivenUp: number;
}

/** The connections of a thread, and what comes over them. */
export class RangeFetcher {
  readonly #data: FetchData;
  readonly #sink: FrameSink;
  readonly #ranges: Ranges;
  readonly #emit: (told: EmittedEvent) => void;
  readonly #scheduler: RangeScheduler;
  readonly #client: HttpClient;
  readonly #worker: number;
  /** What is done over each connection, if anything. */
  readonly #flights: (Flight | undefined)[] = [];

  constructor(
    data: FetchData,
    sink: FrameSink,
    ranges: Ranges,
    emit: (told: EmittedEvent) => void,
  ) {
    this.#data = data;
    this.#sink = sink;
    this.#ranges = ranges;
    this.#emit = emit;
    this.#scheduler = new RangeScheduler(ranges.scheduler);
    this.#client = new HttpClient(data.endpoint, data.transfer.timeouts);
    this.#worker = this.#scheduler.join();
  }

  /** Fetches ranges until all frames are done, by whomever. @throws {SnapshotError} */
  run(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      let hasEnded = false;
      const end = (settle: () => void) => {
        hasEnded = true;
        clearInterval(timer);
        settle();
        for (const flight of this.#flights) flight?.controller.abort();
        this.#client.close();
      };
      const look = () => {
        if (hasEnded) return;
        if (this.#sink.counters.counts.frames >= this.#ranges.frames) return end(resolve);
        this.#cancelNeedless();
        const share = this.#scheduler.share(this.#worker, this.#data.workers);
        for (let slot = 0; slot < share; slot += 1) {
          if (this.#flights[slot] !== undefined) continue;
          const task = this.#scheduler.take() ?? this.#takeSlow();
          if (task === undefined) break;
          this.#do(task, slot).then(look, (error: unknown) => end(() => reject(error)));
        }
      };
      const timer = setInterval(look, TICK);
      look();
    });
  }

  #takeSlow(): Task | undefined {
    const { frames, states } = this.#sink;
    return this.#scheduler.takeSlow(
      ({ first, end }) => [...states.missing(first, end)],
      (indices) => {
        const [first, last] = [indices[0], indices.at(-1)];
        if (first === undefined || last === undefined) return 0;
        return frames.fileOffset(last) + frames.compressedLength(last) - frames.fileOffset(first);
      },
      this.#ranges.bytes,
    );
  }

  /** Gives up what others have finished, and what is so slow that a connection of its own begins anew. */
  #cancelNeedless(): void {
    for (const flight of this.#flights) {
      if (flight === undefined) continue;
      if (this.#isDone(flight.range)) {
        flight.controller.abort();
      } else if (this.#isHopeless(flight)) {
        flight.isGivenUp = true;
        flight.timesGivenUp += 1;
        flight.download?.cancel();
      }
    }
  }

  #isHopeless({ range, isGivenUp, timesGivenUp }: Flight): boolean {
    if (range.kind === "hedge" || isGivenUp || timesGivenUp === MAX_GIVEN_UP) return false;
    if (this.#scheduler.ageOf(range.index) < HOPELESS_AFTER) return false;
    return this.#scheduler.slowness(range.index, this.#missingBytes(range)) > HOPELESS;
  }

  async #do(task: Task, slot: number): Promise<void> {
    const flight: Flight = { range: task, controller: new AbortController(), timesGivenUp: 0 };
    this.#flights[slot] = flight;
    try {
      if (task.kind === "early") this.#decodeEarly(flight, slot);
      await this.#fetch(flight, slot);
      if (this.#isDone(this.#scheduler.range(task.index))) this.#scheduler.rest(task.index);
    } finally {
      this.#flights[slot] = undefined;
    }
  }

  /** Decodes what came early. What is damaged there is fetched like everything else. */
  #decodeEarly(flight: Flight, slot: number): void {
    const { index, first } = flight.range;
    const early = this.#ranges.early[index];
    if (early === undefined) return;
    const came = new Uint8Array(early.bytes, 0, this.#scheduler.receivedOf(index));
    const stream = this.#streamOf(flight, slot, first);
    try {
      stream.push(came.subarray(stream.position - early.start));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      flight.stream = undefined;
    }
    this.#scheduler.begin(index, now());
  }

  /** Where bytes go that begin with a frame, or amid it if some of it is there. */
  #streamOf(flight: Flight, slot: number, first: number): FrameStream {
    if (flight.stream?.isAmid(first)) return flight.stream;
    flight.stream = new FrameStream(this.#sink, slot, first, flight.range.end);
    return flight.stream;
  }

  /** Fetches what is missing of a range, and tries again what fails. */
  async #fetch(flight: Flight, slot: number): Promise<void> {
    const { range, controller } = flight;
    const isHedge = range.kind === "hedge";
    if (isHedge) this.#sink.counters.hedged();
    let [failures, refusals] = [0, 0];
    while (!this.#isDone(range) && !controller.signal.aborted) {
      const [left, missing] = [this.#leftOf(flight), this.#missingBytes(range)];
      try {
        await this.#transfer(flight, slot);
      } catch (error) {
        // Whoever else is at the range may have been faster; and if not, it tries again.
        if (this.#isDone(range) || controller.signal.aborted) return;
        if (isOfThisSide(error)) throw error;
        if (isHedge) return;
        if (flight.isGivenUp) {
          flight.isGivenUp = false;
          this.#sink.counters.retried();
          this.#scheduler.begin(range.index, now());
        } else if (isRefusal(error)) {
          flight.stream = undefined;
          refusals = this.#missingBytes(range) < missing ? 1 : refusals + 1;
          failures = 0;
          await this.#beforeNext(range, refusals, error, controller.signal);
        } else {
          const hasFrame = this.#missingBytes(range) < missing;
          const hasProgress = hasFrame || left - this.#leftOf(flight) >= LEAST_PROGRESS;
          failures = hasProgress ? 1 : failures + 1;
          await this.#beforeNext(range, failures, error, controller.signal);
        }
      }
    }
  }

  /** Waits before a range is asked for again. @throws {SnapshotError} if it was often enough */
  async #beforeNext(
    range: Task,
    failures: number,
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const { sourceName, transfer } = this.#data;
    const isRefused = isRefusal(error);
    const failure = isRefused
      ? new RequestFailure("a frame is damaged", true)
      : requestFailureOf(error);
    const retries = isRefused ? Math.min(MAX_REFUSED, transfer.retries) : transfer.retries;
    const delay = nextDelay(failure, failures, retries);
    if (delay === undefined) {
      if (isRefused) throw error;
      const { start, end } = this.#bytesOf(range) ?? { start: 0, end: 0 };
      throw failure.toError(`cannot read bytes ${start}-${end - 1} of ${sourceName}`, failures);
    }
    if (BUSY.has(failure.details.status)) this.#scheduler.slowDown();
    this.#sink.counters.retried();
    this.#event(range, (event) => [
      "hedgerow:snapshot:retry",
      { ...event, reason: failure.message, delay },
    ]);
    // Who waits because a server wants it is not slow.
    this.#scheduler.rest(range.index);
    // It is aborted when someone else has fetched the range, or nobody wants it any more.
    await pause(delay, signal).catch(() => {});
    this.#scheduler.begin(range.index, now());
  }

  /** Asks for what is missing of a range, once. @throws {RequestFailure} and what decoding throws */
  async #transfer(flight: Flight, slot: number): Promise<void> {
    const { range, controller } = flight;
    const missing = this.#bytesOf(range);
    if (missing === undefined) return;
    const stream = this.#streamOf(flight, slot, missing.first);
    const wanted = { start: stream.position, end: missing.end };
    const { counters } = this.#sink;
    this.#event(range, (event) => ["hedgerow:snapshot:request", event]);
    const begun = now();
    const download = this.#client.get(rangeHeaders(wanted, this.#data.version));
    flight.download = download;
    const cancel = () => download.cancel();
    controller.signal.addEventListener("abort", cancel, { once: true });
    try {
      const response = await download.response();
      checkPart(response, wanted, this.#data.version);
      await download.body(response, (bytes) => {
        counters.fetched(bytes.length);
        if (range.kind !== "hedge") this.#scheduler.received(range.index, bytes.length);
        stream.push(bytes);
        reportExternalMemory(bytes.length);
      });
      if (!this.#isDone(range)) throw new RequestFailure("there were too few bytes", true);
      this.#scheduler.took(now() - begun, wanted.end - wanted.start);
    } finally {
      controller.signal.removeEventListener("abort", cancel);
      download.cancel();
    }
  }

  /** Tells of something that is done with a range. */
  #event(
    task: FrameRange & { readonly kind?: Task["kind"] },
    of: (event: RequestEvent) => EmittedEvent,
  ): void {
    if (!this.#data.hasListeners) return;
    const { start, end } = this.#bytesOf(task) ?? { start: 0, end: 0 };
    this.#emit(of({ url: this.#data.sourceName, start, end, isHedge: task.kind === "hedge" }));
  }

  #isDone({ first, end }: FrameRange): boolean {
    return this.#sink.states.firstMissing(first, end) === undefined;
  }

  /** Where in the file the frames lie that are missing, and which is the first. */
  #bytesOf(range: FrameRange): (ByteRange & { readonly first: number }) | undefined {
    const { frames, states } = this.#sink;
    const missing = [...states.missing(range.first, range.end)];
    const [first, last] = [missing[0], missing.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const end = frames.fileOffset(last) + frames.compressedLength(last);
    return { first, start: frames.fileOffset(first), end };
  }

  /** How many bytes are to come yet, those that came amid a frame left out. */
  #leftOf({ range, stream }: Flight): number {
    const missing = this.#bytesOf(range);
    if (missing === undefined) return 0;
    const isAmid = stream?.isAmid(missing.first) ?? false;
    return missing.end - (isAmid && stream ? stream.position : missing.start);
  }

  #missingBytes(range: FrameRange): number {
    const { start, end } = this.#bytesOf(range) ?? { start: 0, end: 0 };
    return end - start;
  }
}

/** Whether a frame is not what the manifest says, which may have happened on the way. */
function isRefusal(error: unknown): boolean {
  return error instanceof SnapshotError && error.code === "ERR_SNAPSHOT_FORMAT";
}

/** Whether something is wrong that has nothing to do with the server. */
function isOfThisSide(error: unknown): boolean {
  return !(error instanceof RequestFailure) && !isRefusal(error);
}
