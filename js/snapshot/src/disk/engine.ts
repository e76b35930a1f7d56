import { setImmediate } from "node:timers/promises";

import { BLOCK_SIZE } from "../format/limits.js";
import { STATE_HOLE, STATE_ZERO } from "../nbd/constants.js";
import type { Export, StatusExtent } from "../nbd/export.js";
import type { DemandFetcher } from "./demand.js";
import type { DiskImage } from "./disk-image.js";
import type { DiskMonitor } from "./statistics.js";
import type { TraceRecorder } from "./trace.js";

/** The maximum number of bytes that are cleared at once, before the engine yields to other calls. */
const CLEAR_SIZE = 2 ** 25;

/** The maximum number of extents to examine for a status: each takes system calls. */
const MAX_STATUS_STEPS = 2 ** 12;

/** The same for the status of a single extent. */
const MAX_SINGLE_STEPS = 2 ** 8;

/** Reads and writes a disk, and fetches what it needs for that. */
export class DiskEngine implements Export {
  readonly size: number;
  /** Set while the changes are being copied; writes wait for it. */
  #gate: Promise<void> | undefined;
  #flush: { readonly running: Promise<void>; next: Promise<void> | undefined } | undefined;
  #closed: { readonly reason: unknown } | undefined;
  #failedWrite: unknown;
  readonly #pending = new Set<Promise<void>>();
  /** The pending calls that change the disk. */
  readonly #changes = new Set<Promise<void>>();

  constructor(
    private readonly image: DiskImage,
    private readonly demand: DemandFetcher,
    private readonly recorder: TraceRecorder,
    private readonly monitor: DiskMonitor,
    readonly isReadOnly: boolean,
  ) {
    this.size = image.size;
  }

  readNow(offset: number, target: Uint8Array): boolean {
    this.#checkOpen();
    const { image, recorder, monitor } = this;
    if (image.missingFrames(offset, offset + target.length).length > 0) return false;
    recorder.read(offset, offset + target.length);
    image.read(offset, target);
    monitor.countRead();
    return true;
  }

  load(offset: number, length: number): Promise<void> {
    return this.#run(async () => {
      const { recorder, monitor } = this;
      const begun = performance.now();
      recorder.read(offset, offset + length);
      const hasWaited = await this.#fetch(offset, offset + length);
      if (hasWaited) monitor.countDemand(offset, length, performance.now() - begun);
    });
  }

  /**
   * The error of the first write or flush that failed since all of the disk was discarded. The client may have dropped
   * the bytes.
   */
  get failedWrite(): unknown {
    return this.#failedWrite;
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return this.#write(offset, offset + bytes.length, () => this.image.write(offset, bytes));
  }

  writeZeros(offset: number, length: number, mayPunch: boolean): Promise<void> {
    const end = offset + length;
    return this.#write(offset, end, async () => {
      const { image } = this;
      const [first, last] = wholeBlocks(offset, end, this.size);
      // Blocks that are only partly in the range are written.
      for (const [start, stop] of first < last
        ? [
            [offset, first],
            [last, end],
          ]
        : [[offset, end]]) {
        if ((start as number) >= (stop as number)) continue;
        await image.write(start as number, Buffer.alloc((stop as number) - (start as number)));
      }
      await this.#clear(first, last, mayPunch);
    });
  }

  async discard(offset: number, length: number): Promise<void> {
    const [first, last] = wholeBlocks(offset, offset + length, this.size);
    await this.#change(() => this.#clear(first, last, true));
    if (first === 0 && last === this.size) this.#failedWrite = undefined;
  }

  /** Makes everything durable that was written before the call. Calls at the same time share the work. */
  flush(): Promise<void> {
    return this.#run(() => {
      if (this.#flush === undefined) return this.#startFlush();
      // The running one may have begun before the last write.
      this.#flush.next ??= this.#flush.running.catch(() => {}).then(() => this.#startFlush());
      return this.#flush.next;
    });
  }

  prefetch(offset: number, length: number): void {
    const { image, demand } = this;
    for (const frame of image.missingFrames(offset, offset + length)) {
      // The reader gets the error.
      demand.fetch(frame).catch(() => {});
    }
  }

  status(offset: number, length: number, limit: number): StatusExtent[] {
    this.#checkOpen();
    const extents: { length: number; flags: number }[] = [];
    const add = (start: number, end: number, flags: number) => {
      const last = extents.at(-1);
      if (last?.flags === flags) last.length += end - start;
      else extents.push({ length: end - start, flags });
    };
    let steps = 0;
    const most = limit === 1 ? MAX_SINGLE_STEPS : MAX_STATUS_STEPS;
    for (const part of this.image.layout.parts(offset, offset + length)) {
      for (let at = part.start; at < part.end; ) {
        const { end, isHole } = this.image.statusAt(at, part);
        add(at, end, isHole ? STATE_HOLE | STATE_ZERO : 0);
        steps += 1;
        if (extents.length > limit) return extents.slice(0, limit);
        if (steps === most) return extents;
        at = end;
      }
    }
    return extents;
  }

  /** Calls `copy` while nothing is written. Returns its result, and for how many milliseconds writes had to wait. */
  async whileUnchanged<T>(copy: () => Promise<T>): Promise<{ result: T; pause: number }> {
    while (this.#gate !== undefined) await this.#gate;
    const begun = performance.now();
    let open: () => void = () => {};
    this.#gate = new Promise((resolve) => {
      open = resolve;
    });
    try {
      await Promise.allSettled(this.#changes);
      const result = await copy();
      return { result, pause: performance.now() - begun };
    } finally {
      this.#gate = undefined;
      open();
    }
  }

  /** Refuses calls from now on, and waits for those that are running. */
  async close(reason: unknown): Promise<void> {
    this.#closed ??= { reason };
    await this.demand.close(reason);
    await Promise.allSettled(this.#pending);
    await this.#flush?.running.catch(() => {});
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closed.reason;
  }

  /** Runs an action that {@link close} waits for. */
  async #run(action: () => Promise<void>): Promise<void> {
    this.#checkOpen();
    const running = action();
    this.#pending.add(running);
    try {
      await running;
    } finally {
      this.#pending.delete(running);
    }
  }

  async #write(start: number, end: number, action: () => Promise<void>): Promise<void> {
    try {
      await this.#fetchPartial(start, end);
      await this.#change(action);
    } catch (error) {
      if (this.#closed === undefined) this.#failedWrite ??= error;
      throw error;
    }
  }

  /** Runs a write, but not while the changes are being copied. */
  async #change(action: () => Promise<void>): Promise<void> {
    while (this.#gate !== undefined) await this.#gate;
    const change = this.#run(action);
    this.#changes.add(change);
    try {
      await change;
    } finally {
      this.#changes.delete(change);
    }
  }

  /** Waits until no frame of a range is missing in the image. @throws {SnapshotError} also if there is no room for one */
  fetch(start: number, end: number): Promise<void> {
    return this.#run(() => this.#fetchKept(start, end));
  }

  /** Waits until no frame of a range is missing. Returns whether one was. */
  async #fetch(start: number, end: number): Promise<boolean> {
    const { image, demand } = this;
    if (image.missingFrames(start, end).length === 0) return false;
    const forget = image.await(start, end);
    try {
      for (;;) {
        const missing = image.missingFrames(start, end);
        if (missing.length === 0) return true;
        await Promise.all(missing.map((frame) => demand.fetch(frame)));
        this.#checkOpen();
      }
    } finally {
      // The caller reads the frames first.
      void setImmediate().then(forget);
    }
  }

  async #fetchKept(start: number, end: number): Promise<void> {
    await this.#fetch(start, end);
    this.image.checkKept(start, end);
  }

  /**
   * Waits until nothing is missing of the blocks that a write covers only partly. A save waits for changes, but not for
   * this: the server may not answer.
   */
  #fetchPartial(start: number, end: number): Promise<void> {
    const partial = this.image.partialBlocks(start, end);
    if (partial.length === 0) return Promise.resolve();
    return this.#run(async () => {
      await Promise.all(partial.map((block) => this.#fetchKept(block.start, block.end)));
    });
  }

  async #clear(start: number, end: number, mayPunch: boolean): Promise<void> {
    for (let at = start; at < end; at += CLEAR_SIZE) {
      if (at > start) await setImmediate();
      await this.image.clear(at, Math.min(at + CLEAR_SIZE, end), mayPunch);
    }
  }

  #startFlush(): Promise<void> {
    const running = this.image.files.sync().catch((error: unknown) => {
      this.#failedWrite ??= error;
      throw error;
    });
    const flush = { running, next: undefined };
    this.#flush = flush;
    const end = () => {
      if (this.#flush === flush) this.#flush = undefined;
    };
    running.then(end, end);
    return running;
  }
}

/** Returns the whole blocks of a range, [start, end) in bytes. The last block of a disk may be shorter. */
function wholeBlocks(start: number, end: number, size: number): [number, number] {
  const first = Math.ceil(start / BLOCK_SIZE) * BLOCK_SIZE;
  const last = end === size ? end : end - (end % BLOCK_SIZE);
  return first < last ? [first, last] : [end, end];
}
