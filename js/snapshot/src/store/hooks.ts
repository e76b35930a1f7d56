/** The hooks of a save, which freeze and thaw the programs that use the disk. */
import { type Checks, type Duration, duration, FUNCTION, millisecondsOf } from "../check.js";
import { messageOf, SnapshotError } from "../error.js";

/**
 * Freezes the programs that use a disk, or thaws them.
 *
 * @param signal aborted when the hook has taken too long, and for `freeze` also when the save is aborted
 */
export type Hook = (signal: AbortSignal) => unknown;

/** Options of all saves of an attached disk. */
export interface HookOptions {
  /**
   * Called before the last changes are copied: flush and freeze the file systems of the disk, or pause the virtual
   * machine. If it fails, nothing is saved. Default: none; the save has what a power failure would leave.
   */
  readonly freeze?: Hook | undefined;
  /** Called as soon as the changes are copied, and also if `freeze` or the copy has failed. Default: none. */
  readonly thaw?: Hook | undefined;
  /** How long each hook may take, 1 ms to a day. Default: `"10s"`. */
  readonly hookTimeout?: Duration | undefined;
}

/** The checks of {@link HookOptions}. */
export const HOOK_CHECKS: Checks<HookOptions> = {
  freeze: FUNCTION,
  thaw: FUNCTION,
  hookTimeout: duration(1, 86_400_000),
};

/** Hooks with their timeout, in milliseconds. */
export interface Hooks {
  readonly freeze: Hook | undefined;
  readonly thaw: Hook | undefined;
  readonly timeout: number;
}

/** Returns the hooks of a save, which default to those of the attached disk. */
export function hooksOf(options: HookOptions, defaults?: Hooks): Hooks {
  const { freeze = defaults?.freeze, thaw = defaults?.thaw, hookTimeout } = options;
  return { freeze, thaw, timeout: millisecondsOf(hookTimeout ?? defaults?.timeout ?? "10s") };
}

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
