import { setMaxListeners } from "node:events";

/** Returns a signal that follows another one, and that any number of requests may listen to. */
export function forMany(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const following = AbortSignal.any([signal]);
  setMaxListeners(0, following);
  return following;
}
