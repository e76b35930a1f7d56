import type { BlockSet } from "../format/block-set.js";
import type { Manifest } from "../format/manifest.js";
import type { SnapshotFile } from "../local/open-file.js";
import { withProgress } from "../progress.js";
import { compiledDecode } from "../wasm/compiled-decode.js";
import { WorkerPool, type WorkOptions, workerCount } from "../workers/pool.js";
import { DECODE_WORKER } from "../workers/scripts.js";
import type { DecodeData } from "./decode-worker.js";
import type { SinkData } from "./frame-sink.js";
import { FrameStates } from "./frame-states.js";
import { SharedCounters } from "./shared-counters.js";

/** An image that is open for writing, of its full size. */
export interface OpenImage {
  readonly fd: number;
  /** The name of the image in messages. */
  readonly name: string;
  /** Whether it may hold data already, such as that of an earlier run; if not, it is all zeros. */
  readonly mayHoldData: boolean;
  /** The file descriptor of the restore journal, if there is one. */
  readonly journal: number | undefined;
  /** The blocks that must not be overwritten, if the image is already in use. */
  readonly written?: BlockSet | undefined;
  /** The niceness of the workers. Default: 0. */
  readonly niceness?: number | undefined;
}

/** Estimates when frames arrive. */
export interface FrameArrivals {
  /** Returns in how many milliseconds a frame will have arrived; `Infinity` if it is not on its way, or late. */
  in(frame: number, latency: number, isBulk: boolean): number;
}

/** The state that the workers share while they decode frames of a snapshot, from files or servers. */
export class DecodeJob {
  readonly counters = new SharedCounters();
  readonly states: FrameStates;
  /** The number of frames to decode. */
  readonly frames: number;
  /** The names of the files that hold the frames, in messages: the snapshot, then its base objects. */
  readonly names: readonly string[];
  /** The number of bytes to decode. */
  readonly totalBytes: number;
  /** Returns whether the job slows down something more urgent. */
  isInTheWay: () => boolean = () => false;
  /** Returns whether no reader needs the frames that are being fetched now. */
  canWait: () => boolean = () => false;
  /** Estimates when the frames that are being fetched will arrive. Undefined while none are. */
  arrivals: FrameArrivals | undefined;
  /** The frames to fetch first, in this order, and whether the others follow. */
  order: { readonly first: ReadonlySet<number>; readonly isAll: boolean } = {
    first: new Set(),
    isAll: true,
  };

  /**
   * @param image the image to write; without one, frames are verified, including holes
   * @param isWanted whether to decode a frame of data. Default: all of them
   */
  constructor(
    name: string,
    readonly manifest: Manifest,
    readonly image: OpenImage | undefined,
    isWanted: (frame: number) => boolean = () => true,
  ) {
    const { info, frames } = manifest;
    this.names = [
      name,
      ...(info.delta?.objects ?? []).map(({ digest }) => `base object ${digest}`),
    ];
    this.states = FrameStates.of(frames, (frame) =>
      frames.isHole(frame) ? image === undefined : isWanted(frame),
    );
    const wanted = [...this.states.missing()];
    this.frames = wanted.length;
    const lengthOf = (frame: number) =>
      image === undefined ? frames.rawLength(frame) : frames.usedLength(frame);
    this.totalBytes = wanted.reduce((sum, frame) => sum + lengthOf(frame), 0);
  }

  /** Whether all frames are decoded. */
  get isDone(): boolean {
    return this.counters.counts.frames >= this.frames;
  }

  /**
   * Corrects the states and the counts after workers were terminated while they wrote or counted a frame. No worker may
   * be running.
   */
  recover(): void {
    this.states.releaseClaimed();
    this.counters.setFrames(this.frames - [...this.states.missing()].length);
  }

  /** Returns the parameters of each worker's {@link FrameSink}. */
  async sinkData(): Promise<SinkData> {
    const { info, frames } = this.manifest;
    return {
      module: await compiledDecode(),
      frames: frames.shared,
      states: this.states.buffer,
      counters: this.counters.buffer,
      pieceSize: info.pieceSize,
      sourceNames: this.names,
      target: this.image?.fd,
      targetName: this.image?.name ?? "",
      mayHoldData: this.image?.mayHoldData ?? false,
      journal: this.image?.journal,
      written: this.image?.written?.buffer,
    };
  }

  /** Reports progress while `action` runs. @param fail called with what `onProgress` throws */
  withProgress(
    { onProgress }: WorkOptions,
    fail: (error: unknown) => void,
    action: () => Promise<void>,
  ): Promise<void> {
    const work = {
      phase: this.image === undefined ? ("verify" as const) : ("restore" as const),
      totalBytes: this.totalBytes,
      counts: () => this.counters.counts,
    };
    return withProgress(onProgress, work, fail, action);
  }
}

/**
 * Decodes the frames in local files: each worker takes the next frame until none is left.
 *
 * @param files the open files, by the number of the object; frames of other objects are left out
 */
export async function decodeFrames(
  files: readonly (SnapshotFile | undefined)[],
  job: DecodeJob,
  options: WorkOptions,
): Promise<void> {
  const count = workerCount(options, job.frames, job.totalBytes);
  const sources = files.map((file) => file?.fd);
  const data: DecodeData = { ...(await job.sinkData()), sources };
  job.counters.restart();
  const { niceness } = job.image ?? {};
  const pool = new WorkerPool<null, null>(DECODE_WORKER, count, data, options.signal, niceness);
  const fail = (error: unknown) => void pool.end(error);
  try {
    await job.withProgress(options, fail, () => pool.runOnAll(null));
  } finally {
    await pool.end();
  }
}
