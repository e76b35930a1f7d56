import type { FrameSink } from "../decode/frame-sink.js";
import { MissingFrames } from "../decode/frame-states.js";
import type { EmittedEvent } from "../events.js";
import { HttpClient } from "../http/get.js";
import type { FetchData, FetchPlan } from "./fetch-worker.js";
import { Hedging } from "./hedging.js";
import { RangeScheduler, type ScheduledRange } from "./range-scheduler.js";
import { RangeTransfer, type TransferContext } from "./range-transfer.js";
import { fetchRange, isDamage } from "./retry-range.js";

/** How often a worker looks at the progress of the others, in milliseconds. */
const POLL_INTERVAL = 20;

/**
 * The factor by which the number of connections grows for the frames that are wanted first. They are scattered, so
 * their requests are short, and latency dominates.
 */
const ORDERED_FACTOR = 4;

/** The connections of one worker: each takes the next range from the scheduler, or hedges a slow one. */
export class RangeFetcher {
  readonly #context: TransferContext;
  readonly #plan: FetchPlan;
  readonly #hedging: Hedging;
  readonly #worker: number;
  readonly #budget: RequestBudget;
  /** The transfer of each connection; undefined if the connection is idle. */
  readonly #transfers: (RangeTransfer | undefined)[] = [];

  constructor(
    data: FetchData,
    sink: FrameSink,
    plan: FetchPlan,
    emit: (event: EmittedEvent) => void,
  ) {
    const scheduler = new RangeScheduler(plan.scheduler);
    const missing = new MissingFrames(sink.frames, sink.states);
    const clients = clientsOf(data);
    this.#context = { data, sink, scheduler, missing, clients, emit };
    this.#plan = plan;
    this.#hedging = new Hedging(scheduler, missing, plan.bytes);
    this.#worker = scheduler.limit.join();
    this.#budget = new RequestBudget(data.transfer.bytesPerSecond, data.workers);
  }

  /** Ends the transfers of {@link run}, which then resolves. */
  stop: () => void = () => {};

  /** Fetches ranges until every frame is done, by this worker or another one. @throws {SnapshotError} */
  run(): Promise<void> {
    const { scheduler, clients, missing } = this.#context;
    return new Promise<void>((resolve, reject) => {
      let hasEnded = false;
      const end = (settle: () => void) => {
        hasEnded = true;
        clearInterval(timer);
        settle();
        for (const transfer of this.#transfers) transfer?.abort();
        for (const client of clients) client?.close();
      };
      const poll = () => {
        if (hasEnded) return;
        if (this.#isDone()) return end(resolve);
        this.#endNeedless();
        const connections = this.#connections;
        if (scheduler.limit.isUrgent) this.#giveWay(connections);
        for (let slot = 0; slot < connections; slot += 1) {
          if (this.#transfers[slot] !== undefined) continue;
          if (this.#budget.isSpent) break;
          const range = scheduler.take() ?? this.#hedging.take();
          if (range === undefined) break;
          this.#budget.spend(missing.lengthOf(scheduler.range(range.index)));
          this.#transfer(range, slot).then(poll, (error: unknown) => end(() => reject(error)));
        }
      };
      this.stop = () => end(resolve);
      const timer = setInterval(poll, POLL_INTERVAL);
      poll();
    });
  }

  /** How many connections this worker may use now. */
  get #connections(): number {
    const { data, scheduler } = this.#context;
    const { maxConnections } = this.#plan;
    const share = scheduler.limit.shareOf(this.#worker, data.workers);
    if (scheduler.next >= scheduler.data.ordered) return share;
    return Math.max(share, Math.min(share * ORDERED_FACTOR, maxConnections));
  }

  #isDone(): boolean {
    const { sink, scheduler, missing } = this.#context;
    const { frames } = this.#plan;
    if (frames !== undefined) return sink.counters.counts.frames >= frames;
    for (let index = 0; index < scheduler.count; index += 1)
      if (!missing.hasNone(scheduler.range(index))) return false;
    return true;
  }

  /** Ends transfers whose range another connection has completed, and requests that have stalled. */
  #endNeedless(): void {
    for (const transfer of this.#transfers) {
      if (transfer?.isDone) transfer.abort();
      else transfer?.giveUpIfStalled();
    }
  }

  /** Ends the transfers above the limit and gives back their ranges, except ranges that are prefetched or wanted first. */
  #giveWay(connections: number): void {
    const { scheduler, missing } = this.#context;
    for (const transfer of this.#transfers.slice(connections)) {
      if (transfer === undefined || transfer.signal.aborted) continue;
      const { index, kind } = transfer.range;
      if (index < scheduler.data.ordered) continue;
      transfer.abort();
      // The transfer that takes the range pays for the rest.
      this.#budget.spend(-missing.lengthOf(transfer.range));
      if (kind === "fetch") scheduler.giveBack(index);
    }
  }

  async #transfer(range: ScheduledRange, slot: number): Promise<void> {
    const { scheduler, missing } = this.#context;
    const transfer = new RangeTransfer(this.#context, range, slot);
    this.#transfers[slot] = transfer;
    try {
      if (range.kind === "prefetched") this.#decodePrefetched(transfer);
      await fetchRange(transfer, this.#context);
      const { index } = range;
      if (missing.hasNone(scheduler.range(index))) scheduler.timings.stop(index);
    } finally {
      this.#transfers[slot] = undefined;
    }
  }

  /** Decodes prefetched bytes. If they are damaged, the range is fetched like the others. */
  #decodePrefetched(transfer: RangeTransfer): void {
    const { index } = transfer.range;
    const prefetched = this.#plan.prefetched[index];
    if (prefetched === undefined) return;
    try {
      transfer.decode(prefetched);
    } catch (error) {
      if (!isDamage(error)) throw error;
      transfer.discardPartialFrame();
    }
    this.#context.scheduler.timings.begin(index);
  }
}

/** How many bytes a worker may request, if the rate is limited. */
class RequestBudget {
  readonly #bytesPerMillisecond: number;
  readonly #begun = performance.now();
  #spent = 0;

  constructor(bytesPerSecond = Number.POSITIVE_INFINITY, workers: number) {
    this.#bytesPerMillisecond = bytesPerSecond / 1000 / workers;
  }

  /** Whether nothing may be requested now. */
  get isSpent(): boolean {
    return this.#spent > (performance.now() - this.#begun) * this.#bytesPerMillisecond;
  }

  spend(bytes: number): void {
    this.#spent += bytes;
  }
}

/** Returns a client for each object. Clients of one protocol share their connections. */
export function clientsOf({ objects, transfer }: FetchData): (HttpClient | undefined)[] {
  const clients: (HttpClient | undefined)[] = [];
  for (const object of objects) {
    if (object === undefined) clients.push(undefined);
    else clients.push(new HttpClient(object.endpoint, transfer.timeouts, clients));
  }
  return clients;
}
