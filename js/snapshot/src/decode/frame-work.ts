import type { Manifest } from "../format/manifest.js";
import type { WorkOptions } from "../options/work-options.js";
import { withProgress } from "../progress.js";
import { compiledModule } from "../wasm/module.js";
import type { SinkData } from "./frame-sink.js";
import { FrameStates } from "./frame-states.js";
import { SharedCounters } from "./shared-counters.js";

/** An image that is open for writing, as long as it will be, and all zeros but for what a journal tells. */
export interface OpenImage {
  readonly fd: number;
  /** What it is called in messages. */
  readonly name: string;
  /** The open journal of what is restored, if there is one. */
  readonly journal: number | undefined;
}

/** The decoding of all frames of a snapshot, wherever they come from. */
export class FrameWork {
  readonly counters = new SharedCounters();
  readonly states: FrameStates;

  /** @param image what the data is written to; without it, all frames are checked, those of holes as well */
  constructor(
    readonly name: string,
    readonly manifest: Manifest,
    readonly image: OpenImage | undefined,
  ) {
    this.states = FrameStates.of(manifest.frames, image !== undefined);
  }

  /** How many frames there are to do. */
  get frames(): number {
    const { info, frames } = this.manifest;
    return this.image === undefined ? frames.count : info.dataFrames;
  }

  /** What each thread begins with. */
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

  /** Tells of progress while `action` goes on. @param fail is called with what `onProgress` throws */
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
