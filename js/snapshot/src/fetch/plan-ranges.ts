import type { DecodeJob } from "../decode/decode-job.js";
import { cutRanges } from "../format/ranges.js";
import type { RemoteObject } from "../http/read/remote-object.js";
import type { FetchPlan, PrefetchedBytes } from "./fetch-task.js";
import { RangeScheduler } from "./range-scheduler.js";

/** The smallest range that is cut for the sake of parallelism, in bytes: below it, latency costs more. */
const MIN_RANGE_SIZE = 2 ** 20;

/** Bytes that were requested before the ranges were known: the start or the end of an object. */
export interface Prefetch extends PrefetchedBytes {
  /** The number of the object. */
  readonly object: number;
  readonly end: number;
  /** Resolves with the number of bytes that arrived, from the start on. */
  readonly received: Promise<number>;
}

/** The ranges of a job, and the prefetches that have ranges. */
interface PlannedRanges {
  readonly scheduler: RangeScheduler;
  readonly plan: FetchPlan;
  /** The prefetches; the range of each has the same index. */
  readonly prefetches: readonly Prefetch[];
}

/**
 * Cuts the missing frames of a job into ranges, each of one object. Prefetched bytes have the first ranges.
 *
 * @param objects the objects on servers, by their number
 * @param connections the number of connections to have ranges for
 */
export async function planRanges(
  objects: readonly (RemoteObject | undefined)[],
  { manifest: { frames }, states, frames: total }: DecodeJob,
  partSize: number,
  connections: number,
): Promise<PlannedRanges> {
  let missing = [...states.missing()].filter(
    (index) => objects[frames.object(index)] !== undefined,
  );
  const bounds: number[] = [];
  const prefetches: Prefetch[] = [];
  for (const prefetch of objects.flatMap((object, number) => prefetchesOf(object, number))) {
    // A frame belongs to the prefetch in which it starts, even if it ends behind it.
    const isInside = (index: number) => {
      const start = frames.fileOffset(index);
      const isSame = frames.object(index) === prefetch.object;
      return isSame && start >= prefetch.start && start < prefetch.end;
    };
    const inside = missing.filter(isInside);
    const [first, last] = [inside[0], inside.at(-1)];
    if (first === undefined || last === undefined) continue;
    missing = missing.filter((index) => !isInside(index));
    bounds.push(first, last + 1);
    prefetches.push(prefetch);
  }
  const bytes = missing.reduce((sum, index) => sum + frames.compressedLength(index), 0);
  const evenSize = Math.max(Math.ceil(bytes / connections), MIN_RANGE_SIZE);
  const rangeSize = Math.min(evenSize, partSize);
  for (let object = 0; object < objects.length; object += 1) {
    const own = missing.filter((index) => frames.object(index) === object);
    for (const bound of await cutRanges(frames, own, rangeSize)) bounds.push(bound);
  }
  const scheduler = RangeScheduler.of(Uint32Array.from(bounds), connections, prefetches.length);
  const prefetched = prefetches.map(({ start, bytes }): PrefetchedBytes => ({ start, bytes }));
  const plan = { scheduler: scheduler.data, frames: total, bytes, prefetched };
  return { scheduler, plan, prefetches };
}

/** Returns what was requested when the object was opened: its end, and its beginning if that was wanted. */
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
