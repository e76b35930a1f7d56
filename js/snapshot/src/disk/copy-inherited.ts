import { pause } from "../abort.js";
import type { DecodeJob } from "../decode/decode-job.js";
import { nonZeroRuns } from "../local/copy-image.js";
import { zeroRangeSync } from "../local/disk-space.js";
import { checkLengthSync, readWhole, writeFully } from "../local/read-write.js";
import { wrapSystemErrorsSync, wrapWriteErrors } from "../local/system-errors.js";
import type { BaseImage } from "./base-image.js";
import type { DiskFiles } from "./disk-files.js";

/** How many frames are copied at a time. */
const LANES = 2;

/** How often frames are looked at that another call is copying, in milliseconds. */
const POLL_INTERVAL = 1;

/**
 * Copies inherited frames of a disk from the image of the base, without the blocks that were written. Waits for those that
 * another call is copying.
 *
 * @param wanted the frames; others than inherited ones are left out
 * @throws {SnapshotError} `ERR_CACHE`, `ERR_TARGET`, and the reason of the signal
 */
export async function copyInherited(
  base: BaseImage,
  wanted: Iterable<number>,
  { states, manifest: { frames, info } }: Pick<DecodeJob, "states" | "manifest">,
  files: DiskFiles,
  signal: AbortSignal,
): Promise<void> {
  const copyFrame = async (frame: number, buffer: Buffer) => {
    for (const { imageOffset, length } of frames.segments(frame)) {
      for (const { start, end } of files.sets.written.gaps(imageOffset, imageOffset + length)) {
        const bytes = buffer.subarray(0, end - start);
        await readWhole("ERR_CACHE", base, bytes, start);
        checkLengthSync("ERR_TARGET", { fd: files.file.fd, name: files.path }, end);
        if (files.mayHoldData) {
          wrapSystemErrorsSync("ERR_TARGET", `cannot write ${files.path}`, () =>
            zeroRangeSync(files.file.fd, start, end),
          );
        }
        for (const run of nonZeroRuns(bytes, start)) {
          const part = bytes.subarray(run.start - start, run.end - start);
          await wrapWriteErrors(files.path, writeFully(files.file.fd, part, run.start));
        }
      }
    }
  };
  const copyNext = async (waiting: Iterable<number>) => {
    const buffer = Buffer.allocUnsafe(info.pieceSize);
    for (const frame of waiting) {
      signal.throwIfAborted();
      if (!states.claimInherited(frame)) continue;
      try {
        await copyFrame(frame, buffer);
        states.finish(frame);
      } catch (error) {
        states.inherit(frame);
        throw error;
      }
    }
  };
  for (let left = [...wanted]; ; await pause(POLL_INTERVAL, signal)) {
    const waiting = left.values();
    const copying = Array.from({ length: LANES }, () => copyNext(waiting));
    for (const result of await Promise.allSettled(copying))
      if (result.status === "rejected") throw result.reason;
    // If another call fails, its frames are inherited again.
    left = left.filter((frame) => states.isInBase(frame));
    if (left.length === 0) return;
  }
}
