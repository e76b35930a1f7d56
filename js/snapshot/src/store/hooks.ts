import { messageOf, SnapshotError } from "../error.js";
import type { Hook, Hooks } from "../options/store-options.js";

/**
 * Calls `copy` between the hooks `freeze` and `thaw`. Always calls `thaw`, even if another call fails.
 *
 * @param signal aborts `freeze`, but not `thaw`
 * @throws {SnapshotError} `ERR_HOOK`, and what `copy` throws
 */
export async function whileFrozen<T>(
  { freeze, thaw, timeout }: Hooks,
  copy: () => Promise<T>,
  signal?: AbortSignal | undefined,
): Promise<T> {
  try {
    if (freeze !== undefined) await call("freeze", freeze, timeout, signal);
    return await copy();
  } finally {
    // An error that it throws replaces that of the copy: programs may still be frozen.
    if (thaw !== undefined) await call("thaw", thaw, timeout);
  }
}

async function call(
  name: keyof Hooks,
  hook: Hook,
  timeout: number,
  signal?: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const late = new AbortController();
  const abort = () => late.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(() => {
    const message = `${name}: the hook took longer than ${timeout} ms; nothing was saved`;
    late.abort(new SnapshotError("ERR_HOOK", message));
  }, timeout);
  const expired = new Promise<never>((_, reject) => {
    late.signal.addEventListener("abort", () => reject(late.signal.reason), { once: true });
  });
  try {
    await Promise.race([(async () => hook(late.signal))(), expired]);
  } catch (cause) {
    if (late.signal.aborted) throw late.signal.reason;
    const message = `${name}: the hook failed: ${messageOf(cause)}; nothing was saved`;
    throw new SnapshotError("ERR_HOOK", message, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
