import type { ImageSegments } from "../format/image-segments.js";
import { MAX_BASE_OBJECTS } from "../format/limits.js";
import type { Manifest } from "../format/manifest.js";

/** The minimum share of an object that must be in use. */
const MIN_LIVE = 0.5;

/**
 * Returns the numbers of the objects that a delta against a base drops, so that it stores their data again: those of
 * which less than half is in use; and those with the fewest bytes in use, if there are too many.
 */
export function droppedObjects({ info }: Manifest, segments: ImageSegments): Set<number> {
  const { live, own } = liveBytes(segments);
  // Only frames count as the size of the base: its manifest may be larger than these.
  const sizes = [own, ...(info.delta?.objects ?? []).map(({ size }) => size)];
  const byLive = [...live].sort(([, a], [, b]) => b - a);
  const isKept = ([object, bytes]: readonly [number, number], rank: number) =>
    rank < MAX_BASE_OBJECTS && bytes >= MIN_LIVE * (sizes[object] ?? 0);
  return new Set(byLive.filter((one, rank) => !isKept(one, rank)).map(([object]) => object));
}

/** Returns the bytes of each object that are in use, and the number of bytes of frames of the base itself. */
function liveBytes(segments: ImageSegments) {
  const { frames } = segments;
  const live = new Map<number, number>();
  for (const { frame, length } of segments) {
    const object = frames.object(frame);
    const bytes = (frames.compressedLength(frame) * length) / frames.rawLength(frame);
    live.set(object, (live.get(object) ?? 0) + bytes);
  }
  let own = 0;
  for (let frame = 0; frame < frames.count; frame += 1) {
    const isOwn = frames.object(frame) === 0 && !frames.isHole(frame);
    if (isOwn) own += frames.compressedLength(frame);
  }
  return { live, own };
}
