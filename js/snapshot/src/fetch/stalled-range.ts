import type { RangeTimings } from "./range-timings.js";
import type { RangeTransfer } from "./range-transfer.js";

/** How many times slower than average a stalled range is. */
const STALLED_FACTOR = 20;

/** How long a request must have been running before it counts as stalled, in milliseconds. */
const MIN_ELAPSED = 2_000;

/** How many times a transfer may be given up. If it still stalls after that, the connection is not to blame. */
const MAX_GIVE_UPS = 2;

/** Gives up the request of a transfer that has stalled. `fetchRange` then repeats it on a new connection. */
export function giveUpIfStalled(transfer: RangeTransfer, timings: RangeTimings): void {
  if (isStalled(transfer, timings)) transfer.giveUp();
}

function isStalled(transfer: RangeTransfer, timings: RangeTimings): boolean {
  if (transfer.isHedge || transfer.isGivenUp || transfer.timesGivenUp === MAX_GIVE_UPS)
    return false;
  const { index } = transfer.range;
  if (timings.elapsed(index) < MIN_ELAPSED) return false;
  return timings.slowdown(index, transfer.missingBytes) > STALLED_FACTOR;
}
