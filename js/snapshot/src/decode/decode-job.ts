import type { Manifest } from "../format/manifest.js";
import type { WorkOptions } from "../options/work-options.js";
import { withProgress } from "../progress.js";
import { compiledModule } from "../wasm/module.js";
import type { SinkData } from "./frame-sink.js";
import { FrameStates } from "./frame-states.js";
import { SharedCounters } from "./shared-counters.js";

/**
 * An image that is open for writing, of its full size. Without a journal it is all zeros; with one, it may hold
 * data of an earlier run.
 */
export interface OpenImage {
  readonly fd: number;
  /** The name of the image in messages. */
  readonly name: string;
  /** The file descriptor of the restore journal, if there is one. */
  readonly journal: number | undefined;
}

/** The state that the workers share while they decode all frames of a snapshot, from a file or a server. */
export class DecodeJob {
  readonly counters = new SharedCounters();
  readonly states: FrameStates;

  /** @param image the image to write; without one, all frames are verified, including holes */
  constructor(
    readonly name: string,
    readonly manifest: Manifest,
    readonly image: OpenImage | undefined,
  ) {
    this.states = FrameStates.of(manifest.frames, image !== undefined);
  }

  /** The number of frames to decode. */
  get frames(): number {
    const { info, frames } = this.manifest;
    return this.image === undefined ? frames.count : info.dataFrames;
  }

  /** Returns the parameters of each worker's {@link FrameSink}. */
  async sinkData(): Promise<SinkData> {
    const { info, frames } = this.manifest;
    return {
      module: await compiledModule("decode"),
      records: frames.records,
      states: this.states.buffer,
      counters: this.counters.buffer,
      pieceSize: info.pieceSize,
      sourceName: this.name,
      target: this.image?.fd,
      targetName: this.image?.name ?? "",
      journal: this.image?.journal,
    };
  }

  /** Reports progress while `action` runs. @param fail called with what `onProgress` throws */
  withProgress(
    { onProgress }: WorkOptions,
    fail: (error: unknown) => void,
    action: () => Promise<void>,
  ): Promise<void> {
    const { info } = this.manifest;
    const isRestore = this.image !== undefined;
    const work = {
      phase: isRestore ? ("restore" as const) : ("verify" as const),
      totalBytes: isRestore ? info.dataSize : info.imageSize,
      counts: () => this.counters.counts,
    };
    return withProgress(onProgress, work, fail, action);
  }
}
