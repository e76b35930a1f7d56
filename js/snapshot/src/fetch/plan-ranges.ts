import { initSync, RangeCutter } from "../../wasm/decode.js";
import type { DecodeJob } from "../decode/decode-job.js";
import { type Frames, nearFrames } from "../format/frames.js";
import type { RemoteObject } from "../http/remote-object.js";
import { compiledDecode } from "../wasm/compiled-decode.js";
import { instantiate } from "../wasm/module.js";
import type { FetchPlan, PrefetchedBytes } from "./fetch-worker.js";
import { RangeScheduler } from "./range-scheduler.js";

/** The smallest range that is cut for the sake of parallelism, in bytes: below it, latency costs more. */
const MIN_RANGE_SIZE = 2 ** 20;

/** The number of consecutive frames, of those to fetch first, among which near ones are requested together. */
const WINDOW = 64;

/** Bytes that were requested before the ranges were known, [start, end) of an object: its beginning or its tail. */
interface Prefetch {
  /** The number of the object. */
  readonly object: number;
  readonly start: number;
  readonly end: number;
  readonly bytes: SharedArrayBuffer;
  /** Resolves with the number of bytes that arrived, from the start on. */
  readonly received: Promise<number>;
}

/** A prefetch that was cut into ranges. */
export interface PlannedPrefetch extends Prefetch {
  readonly ranges: readonly PrefetchedRange[];
}

/** A range of a prefetch, [start, end) of its bytes. */
interface PrefetchedRange {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** The ranges of a job, and the prefetches that have ranges. */
interface PlannedRanges {
  readonly scheduler: RangeScheduler;
  readonly plan: Omit<FetchPlan, "maxConnections">;
  readonly prefetches: readonly PlannedPrefetch[];
}

/**
 * Cuts the missing frames of a job into ranges, each of one object. The first ranges are those of prefetched bytes.
 * They are small, so that all workers decode them.
 *
 * @param objects the objects on servers, by their number
 * @param connections the number of connections to have ranges for
 */
export async function planRanges(
  objects: readonly (RemoteObject | undefined)[],
  job: DecodeJob,
  partSize: number,
  connections: number,
): Promise<PlannedRanges> {
  const { states, manifest } = job;
  const { frames } = manifest;
  const { first, isAll } = job.order;
  const all = [...states.missing()];
  let missing = all.filter((index) => objects[frames.object(index)] !== undefined);
  const total = isAll && missing.length === all.length ? job.frames : undefined;
  if (!isAll) missing = missing.filter((index) => first.has(index));
  const bounds: number[] = [];
  const prefetches: PlannedPrefetch[] = [];
  const prefetched: PrefetchedBytes[] = [];
  for (const prefetch of objects.flatMap((object, number) => prefetchesOf(object, number))) {
    // A frame belongs to the prefetch in which it starts, even if it ends after it.
    const isInside = (index: number) => {
      const start = frames.fileOffset(index);
      const isSame = frames.object(index) === prefetch.object;
      return isSame && start >= prefetch.start && start < prefetch.end;
    };
    const inside = missing.filter(isInside);
    missing = missing.filter((index) => !isInside(index));
    const ranges: PrefetchedRange[] = [];
    for (const [first, last] of await cut(frames, inside, MIN_RANGE_SIZE)) {
      const start = frames.fileOffset(first) - prefetch.start;
      const end = frames.fileOffset(last) + frames.compressedLength(last) - prefetch.start;
      ranges.push({ index: prefetched.length, start, end });
      prefetched.push({ bytes: prefetch.bytes, offset: start });
      bounds.push(first, last + 1);
    }
    if (ranges.length > 0) prefetches.push({ ...prefetch, ranges });
  }
  const bytes = missing.reduce((sum, index) => sum + frames.compressedLength(index), 0);
  const left = new Set(missing);
  const early = [...first].filter((index) => left.has(index));
  missing = missing.filter((index) => !first.has(index));
  for (let at = 0; at < early.length; at += WINDOW) {
    for (const near of nearFrames(frames, early.slice(at, at + WINDOW), MIN_RANGE_SIZE))
      bounds.push(near.frames[0] as number, (near.frames.at(-1) as number) + 1);
  }
  const ordered = bounds.length / 2;
  const evenSize = Math.max(Math.ceil(bytes / connections), MIN_RANGE_SIZE);
  const rangeSize = Math.min(evenSize, partSize);
  for (let object = 0; object < objects.length; object += 1) {
    const own = missing.filter((index) => frames.object(index) === object);
    for (const [first, last] of await cut(frames, own, rangeSize)) bounds.push(first, last + 1);
  }
  const scheduler = RangeScheduler.of(
    Uint32Array.from(bounds),
    connections,
    prefetched.length,
    ordered,
  );
  const plan = { scheduler: scheduler.data, frames: total, bytes, prefetched };
  return { scheduler, plan, prefetches };
}

/**
 * Cuts frames of one object into ranges of about `size` bytes. Returns the first frame of each, and its last.
 *
 * @param wanted frames in ascending order
 */
async function cut(frames: Frames, wanted: number[], size: number): Promise<[number, number][]> {
  const { memory } = instantiate(initSync, await compiledDecode());
  const cutter = new RangeCutter();
  try {
    for (const index of wanted) {
      new Uint8Array(memory.buffer).set(frames.record(index), cutter.record());
      cutter.push();
    }
    const count = cutter.cut(size);
    const bounds = new Uint32Array(memory.buffer, cutter.ranges(), 2 * count);
    return Array.from({ length: count }, (_, at) => [
      bounds[2 * at] as number,
      (bounds[2 * at + 1] as number) - 1,
    ]);
  } finally {
    cutter.free();
  }
}

/** Returns the prefetches of an object: its end, and its beginning if that was requested. */
function prefetchesOf(opened: RemoteObject | undefined, object: number): Prefetch[] {
  if (opened === undefined) return [];
  const { prefix, tail, size, version } = opened;
  const received = Promise.resolve(tail.byteLength);
  const end = { object, start: size - tail.byteLength, end: size, bytes: tail, received };
  if (prefix === undefined) return [end];
  const { bytes } = prefix;
  const start = { object, start: 0, end: Math.min(bytes.byteLength, size), bytes };
  return [{ ...start, received: prefix.lengthOf(version) }, end];
}
