import { pause } from "../abort.js";
import { SnapshotError } from "../error.js";
import { DENIED, RequestFailure, requestFailureOf } from "../http/failure.js";
import { nextDelay } from "../http/retry.js";
import type { RangeTransfer, TransferContext } from "./range-transfer.js";

/** How often a damaged frame is requested again. */
const MAX_DAMAGE_RETRIES = 2;

/** How many bytes an attempt without a whole frame must receive to reset the count of failures. */
const MIN_PROGRESS = 2 ** 16;

/** The statuses of an overloaded server. */
const OVERLOADED: ReadonlySet<unknown> = new Set([429, 503]);

/**
 * Requests the missing bytes of a range until it is complete, and retries failed requests. The number of consecutive
 * failures is limited; progress resets it. A hedge is not retried: another connection has the range.
 *
 * @throws {SnapshotError}
 */
export async function fetchRange(transfer: RangeTransfer, context: TransferContext): Promise<void> {
  const { sink, scheduler } = context;
  let failures = 0;
  let damages = 0;
  let isRenewed = false;
  while (!transfer.isDone && !transfer.signal.aborted) {
    const { bytesLeft, missingBytes } = transfer;
    try {
      await transfer.request();
    } catch (error) {
      // Another connection may have completed the range.
      if (transfer.isDone || transfer.signal.aborted) return;
      if (isLocal(error)) throw error;
      if (transfer.isHedge) return;
      if (isDenied(error) && !isRenewed && (await transfer.renew())) {
        isRenewed = true;
        continue;
      }
      const hasFrame = transfer.missingBytes < missingBytes;
      if (hasFrame) damages = 0;
      if (transfer.isGivenUp) {
        transfer.isGivenUp = false;
        sink.counters.retried();
        scheduler.timings.begin(transfer.range.index);
      } else if (isDamage(error)) {
        transfer.discardPartialFrame();
        damages += 1;
        failures = 0;
        await waitToRetry(transfer, context, error, damages);
      } else {
        const hasProgress = hasFrame || bytesLeft - transfer.bytesLeft >= MIN_PROGRESS;
        failures = hasProgress ? 1 : failures + 1;
        await waitToRetry(transfer, context, error, failures);
      }
    }
  }
}

/** Waits before the next attempt. @throws {SnapshotError} after too many consecutive failures */
async function waitToRetry(
  transfer: RangeTransfer,
  { data, sink, scheduler, missing }: TransferContext,
  error: unknown,
  failures: number,
): Promise<void> {
  const { index } = transfer.range;
  const { retries } = data.transfer;
  const isDamaged = isDamage(error);
  const failure = isDamaged
    ? new RequestFailure("a frame is damaged", true)
    : requestFailureOf(error);
  const maxRetries = isDamaged ? Math.min(MAX_DAMAGE_RETRIES, retries) : retries;
  const delay = nextDelay(failure, failures, maxRetries);
  if (delay === undefined) {
    if (isDamaged) throw error;
    const { start, end } = missing.bytesOf(transfer.range) ?? { start: 0, end: 0 };
    throw failure.toError(`cannot read bytes ${start}-${end - 1} of ${transfer.name}`, failures);
  }
  if (OVERLOADED.has(failure.details.status)) scheduler.limit.halve();
  sink.counters.retried();
  transfer.emit((event) => [
    "hedgerow:snapshot:retry",
    { ...event, reason: failure.message, delay },
  ]);
  // The wait must not make the range look slow.
  scheduler.timings.stop(index);
  await pause(delay, transfer.signal).catch(() => {});
  if (!transfer.signal.aborted) scheduler.timings.begin(index);
}

/** Returns whether the server refused a request, whose signature may have expired. */
function isDenied(error: unknown): boolean {
  return error instanceof RequestFailure && DENIED.has(error.details.status);
}

/** Returns whether a frame does not match its digest. The bytes may have been damaged on the way. */
export function isDamage(error: unknown): boolean {
  return error instanceof SnapshotError && error.code === "ERR_SNAPSHOT_FORMAT";
}

/** Returns whether an error comes from this machine, such as a full disk. A retry does not help. */
function isLocal(error: unknown): boolean {
  return !(error instanceof RequestFailure) && !isDamage(error);
}
