import { setTimeout as delay } from "node:timers/promises";

import { type AttachedDisk, type Generation, SnapshotError } from "@hedgerow/snapshot";

import { messageOf } from "../../error.js";
import { untilAborted } from "../serve.js";
import { isLost, type LocalImage, unsavedError } from "./local-image.js";

/** The pause after an attempt that failed, in milliseconds. */
const RETRY = 1_000;

/** How long it may take after the deadline to thaw, and to make the local image durable, in milliseconds. */
const END_TIMEOUT = 5_000;

/** The longest time that a timer can take, in milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

/**
 * Saves and detaches a disk. An attempt that fails is repeated until the deadline.
 *
 * @param deadline in milliseconds
 * @returns the last generation
 * @throws {CliError} which names the local image
 */
export async function detachWithin(
  disk: AttachedDisk,
  deadline: number,
  local: LocalImage,
): Promise<Generation> {
  const late = new AbortController();
  const { signal } = late;
  const timer = setTimeout(() => late.abort(), Math.min(deadline, MAX_TIMER));
  const ended = untilAborted(signal).then(() => delay(END_TIMEOUT, false));
  let reason = "";
  try {
    while (!signal.aborted) {
      try {
        const detached = disk.detach({ signal }).then(() => true);
        if (await Promise.race([detached, ended])) return disk.generation;
      } catch (error) {
        if (isLost(error)) throw unsavedError(error.code, error.message, local);
        if (signal.aborted) break;
        if (!(error instanceof SnapshotError)) throw error;
        if (reason === "") process.emitWarning(`${error.message}; trying again`);
        reason = `: ${messageOf(error)}`;
        await delay(RETRY, undefined, { signal }).catch(() => {});
      }
    }
  } finally {
    clearTimeout(timer);
  }
  // Otherwise, the last writes would be lost when this process ends.
  await Promise.race([disk.flush().catch(() => {}), ended]);
  const message = `${disk.name} was not saved within ${deadline / 1000} s${reason}`;
  throw unsavedError("ERR_OUTPUT", message, local);
}
