/** Traces: the parts of a disk that are read first, which the next disk fetches first. */
import { invalid } from "../check.js";
import { BlockSet } from "../format/block-set.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { TransferOptions } from "../http/transfer.js";
import { type Location, locationOf } from "../location/location.js";
import { readSmallObject } from "../location/small-object.js";
import type { ImageLayout } from "./image-layout.js";

/** The maximum number of ranges in a trace. */
export const MAX_RANGES = 2 ** 15;

/** The parts of an image that a disk read first. */
export interface Trace {
  /** The version of this format. */
  readonly version: 1;
  /** The offset and length of each part in bytes, in the order of the first reads. */
  readonly ranges: readonly (readonly [offset: number, length: number])[];
}

/** For how long reads are recorded, in milliseconds. */
const DURATION = 30_000;

/** The unit of a trace, in blocks. */
const UNIT = 16;

/** The maximum length of the text of a trace, in bytes: each range has two numbers of up to 14 digits. */
const MAX_LENGTH = 64 + MAX_RANGES * 32;

/** Records which parts of a disk are read. */
export class TraceRecorder {
  readonly #size: number;
  readonly #seen: BlockSet;
  readonly #ranges: [number, number][] = [];
  readonly #onFirst: (start: number, end: number) => void;
  #end = performance.now() + DURATION;

  /**
   * @param size that of the disk, in bytes
   * @param onFirst called with each read of something that was not read before
   */
  constructor(size: number, onFirst: (start: number, end: number) => void) {
    this.#size = size;
    this.#onFirst = onFirst;
    this.#seen = BlockSet.of(Math.ceil(size / UNIT));
  }

  /** The trace so far. */
  get trace(): Trace {
    return { version: 1, ranges: this.#ranges.map(([start, end]) => [start, end - start]) };
  }

  /** Records a read of [start, end). */
  read(start: number, end: number): void {
    if (this.#end === 0) return;
    const unit = UNIT * BLOCK_SIZE;
    const [first, last] = [Math.floor(start / unit), Math.ceil(end / unit)];
    if (this.#seen.hasAll(first, last)) return;
    if (performance.now() > this.#end || this.#ranges.length + last - first > MAX_RANGES) {
      this.#end = 0;
      return;
    }
    this.#onFirst(start, end);
    for (let at = first; at < last; at += 1) if (!this.#seen.has(at)) this.#add(at * unit, unit);
    this.#seen.add(first, last);
  }

  #add(start: number, length: number): void {
    const end = Math.min(start + length, this.#size);
    const before = this.#ranges.at(-1);
    if (before?.[1] === start) before[1] = end;
    else this.#ranges.push([start, end]);
  }
}

/** Checks the option `trace`. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkTraceOption(name: string, trace: unknown): void {
  if (trace === false || isTrace(trace)) return;
  if (typeof trace !== "string" && !(trace instanceof URL))
    throw invalid(name, "a trace of version 1, its location, or false", typeof trace);
  locationOf(name, trace);
}

function isTrace(trace: unknown): trace is Trace {
  const { version, ranges } = Object(trace) as Trace;
  if (version !== 1 || !Array.isArray(ranges) || ranges.length > MAX_RANGES) return false;
  const isOffset = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  return ranges.every(
    (range) => Array.isArray(range) && range.length === 2 && range.every(isOffset),
  );
}

/** Returns the trace for a disk of a snapshot, or where it is. */
export function traceFor(
  option: Trace | string | URL | false | undefined,
  snapshot: Location,
): Trace | Location | undefined {
  if (option === false) return undefined;
  if (option === undefined) return traceLocation(snapshot);
  return isTrace(option) ? option : locationOf("trace", option);
}

/** Returns the location of the trace of a snapshot: beside it. Undefined if the URL has a query, which may be a signature. */
export function traceLocation(snapshot: Location): Location | undefined {
  switch (snapshot.kind) {
    case "file":
      return { kind: "file", path: `${snapshot.path}.trace` };
    case "object":
      return { ...snapshot, key: `${snapshot.key}.trace` };
    case "http": {
      if (snapshot.url.search !== "") return undefined;
      const url = new URL(snapshot.url);
      url.pathname += ".trace";
      return { kind: "http", url };
    }
  }
}

/** Reads a trace. Returns undefined if there is none, or it is not valid: it only saves time. */
export async function readTrace(
  location: Location | undefined,
  options: TransferOptions & { readonly signal: AbortSignal },
): Promise<Trace | undefined> {
  try {
    const bytes = location && (await readSmallObject(location, MAX_LENGTH, options));
    const trace: unknown = bytes && JSON.parse(bytes.toString());
    return isTrace(trace) ? trace : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the frames that hold the parts of a trace, in its order. Ranges of a recorded trace do not overlap. Reads no
 * more of a forged one than a recorded trace could have.
 */
export function framesOf(
  { ranges }: Trace,
  layout: Pick<ImageLayout, "size" | "segmentCount" | "everyFrame">,
): Set<number> {
  const frames = new Set<number>();
  let left = layout.segmentCount + ranges.length;
  const add = (frame: number) => {
    frames.add(frame);
    left -= 1;
    return left > 0;
  };
  for (const [offset, length] of ranges)
    if (!layout.everyFrame(offset, Math.min(offset + length, layout.size), add)) break;
  return frames;
}
