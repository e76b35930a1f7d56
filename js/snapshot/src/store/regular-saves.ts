import { setTimeout as sleep } from "node:timers/promises";

/** How much an interval varies, as a share of it: hosts that start together do not save together. */
const JITTER = 0.1;

/** The first pause after a save that failed, in milliseconds. It doubles with each failure. */
const FIRST_RETRY = 1_000;

/** The longest one, in milliseconds. */
const LAST_RETRY = 60_000;

/** The longest delay of a timer, in milliseconds: Node fires a longer one at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** A disk that is saved automatically. */
export interface AutoSaved {
  /** Returns whether there is anything to save. */
  hasChanged(): boolean;
  save(): Promise<unknown>;
  /** Called when a save has failed. It will be retried. */
  onFailure(error: unknown): void;
}

/**
 * Saves at intervals, one save at a time, until the signal is aborted. Retries a failed save sooner.
 *
 * @param interval in milliseconds
 */
export async function saveRegularly(
  interval: number,
  { hasChanged, save, onFailure }: AutoSaved,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const retry = Math.min(interval, FIRST_RETRY * 2 ** (failures - 1), LAST_RETRY);
    const delay = (failures === 0 ? interval : retry) * (1 - JITTER + 2 * JITTER * Math.random());
    await sleep(Math.min(delay, MAX_TIMER), undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted || !hasChanged()) continue;
    try {
      await save();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      onFailure(error);
    }
  }
}
