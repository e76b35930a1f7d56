import { FrameDecoder, initSync } from "../../wasm/decode.js";
import { SnapshotError } from "../error.js";
import { Frames } from "../format/frames.js";
import { readFullySync } from "../local/read-fully.js";
import { withFileSync } from "../local/system-failure.js";
import { writeFullySync } from "../local/write-fully.js";
import { zeroRangeSync } from "../local/zero-range.js";
import { errorOf } from "../wasm/refusal.js";
import { FrameStates } from "./frame-states.js";
import { ENTRY_LENGTH, entryPosition } from "./journal-layout.js";
import { SharedCounters } from "./shared-counters.js";

/** What a thread that decodes begins with. */
export interface SinkData {
  readonly module: WebAssembly.Module;
  readonly records: SharedArrayBuffer;
  readonly states: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
  readonly pieceSize: number;
  /** What the snapshot is called in messages. */
  readonly sourceName: string;
  /** The open image; without one, all that there is is checked, and nothing written. */
  readonly target: number | undefined;
  readonly targetName: string;
  /** The open journal of what is restored, if there is one. */
  readonly journal: number | undefined;
}

/** Where frames go: they are decoded, written where they belong, and counted. */
export class FrameSink {
  readonly frames: Frames;
  readonly states: FrameStates;
  readonly counters: SharedCounters;
  readonly #data: SinkData;
  readonly #memory: WebAssembly.Memory;
  readonly #decoder: FrameDecoder;

  constructor(data: SinkData) {
    this.#data = data;
    this.frames = new Frames(data.records);
    this.states = new FrameStates(data.states);
    this.counters = new SharedCounters(data.counters);
    this.#memory = initSync({ module: data.module }).memory;
    const decoder = FrameDecoder.create(data.pieceSize, data.target === undefined);
    if (decoder === undefined) throw this.#outOfMemory();
    this.#decoder = decoder;
  }

  /**
   * Begins a frame in a slot. Returns where in {@link view} its bytes belong, until the next one is begun there.
   *
   * @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`
   */
  begin(slot: number, index: number): number {
    const record = this.#decoder.record();
    new Uint8Array(this.#memory.buffer).set(this.frames.record(index), record);
    const start = this.#decoder.begin(slot);
    if (start === 0) throw this.#refused();
    return start;
  }

  /** A part of the memory, until anything else is done with it. */
  view(start: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, start, length);
  }

  /**
   * Decodes the frame in a slot, of which `count` bytes are there, and writes it, unless someone else did.
   *
   * @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`, `ERR_TARGET`
   */
  finish(slot: number, index: number, count: number): void {
    if (this.states.isDone(index)) return;
    const runs = this.#decoder.finish(slot, count);
    if (runs < 0) throw this.#refused();
    this.#write(index, runs);
    this.#finished(index);
  }

  /**
   * Takes a frame for done if the journal says that it is, and the image that it has what it had then.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  recall(index: number): void {
    const { journal, target, targetName } = this.#data;
    if (journal === undefined || target === undefined || this.states.isDone(index)) return;
    const told = new Uint8Array(ENTRY_LENGTH);
    const [length, position] = [this.frames.rawLength(index), this.frames.imageOffset(index)];
    const isSame = withFileSync(
      "ERR_TARGET",
      `cannot read what was restored of ${targetName}`,
      () => {
        readFullySync(journal, told, entryPosition(index));
        if (told.every((byte) => byte === 0)) return undefined;
        const content = this.view(this.#decoder.out(), length);
        return readFullySync(target, content, position) === length;
      },
    );
    if (isSame && Buffer.compare(told, this.#digest(length)) === 0) this.#count(index);
  }

  /** Writes the runs of the frame that was decoded. What is between them is zeros. */
  #write(index: number, count: number): void {
    const { target, targetName, journal } = this.#data;
    if (target === undefined) return;
    const out = this.#decoder.out();
    const position = this.frames.imageOffset(index);
    const runs = new Uint32Array(this.#memory.buffer, this.#decoder.runs(), 2 * count);
    withFileSync("ERR_TARGET", `cannot write ${targetName}`, () => {
      let done = 0;
      // What an earlier run has left is there, too.
      const skipTo = (end: number) => {
        if (journal !== undefined) zeroRangeSync(target, position + done, position + end);
      };
      for (let run = 0; run < runs.length; run += 2) {
        const [start, end] = [runs[run] as number, runs[run + 1] as number];
        skipTo(start);
        writeFullySync(target, this.view(out + start, end - start), position + start);
        done = end;
      }
      skipTo(this.frames.rawLength(index));
    });
  }

  #finished(index: number): void {
    const { journal, targetName } = this.#data;
    if (journal !== undefined) {
      const digest = this.#digest(this.frames.rawLength(index));
      withFileSync("ERR_TARGET", `cannot write the journal of ${targetName}`, () =>
        writeFullySync(journal, digest, entryPosition(index)),
      );
    }
    this.#count(index);
  }

  #count(index: number): void {
    if (!this.states.finish(index)) return;
    this.counters.count(this.frames.rawLength(index), this.frames.compressedLength(index));
  }

  /** The digest of what was decoded last, or written to where it goes. */
  #digest(length: number): Uint8Array {
    return this.view(this.#decoder.out_digest(length), ENTRY_LENGTH);
  }

  #refused(): SnapshotError {
    const refusal = this.#decoder.refusal();
    if (refusal === undefined) return this.#outOfMemory();
    return errorOf("ERR_SNAPSHOT_FORMAT", `${this.#data.sourceName}: `, refusal, this.#memory);
  }

  #outOfMemory(): SnapshotError {
    const message = `no memory for pieces of ${this.#data.pieceSize} bytes`;
    return new SnapshotError("ERR_WORKER", message);
  }
}
