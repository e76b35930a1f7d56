import type { Hook } from "@hedgerow/snapshot";

import { startProgram } from "../program.js";

/**
 * Returns a hook that runs a shell command, with the name of the disk in `HEDGEROW_DISK`. If it takes too long, it is
 * killed together with the programs that it has started.
 */
export function hookOf(command: string | undefined, name: string): Hook | undefined {
  if (command === undefined) return undefined;
  return async (signal) => {
    const env = { ...process.env, HEDGEROW_DISK: name };
    const { child, ended } = startProgram("sh", ["-c", command], env);
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // All have ended.
      }
    };
    signal.addEventListener("abort", kill, { once: true });
    const reason = await ended;
    signal.removeEventListener("abort", kill);
    if (reason !== undefined) throw new Error(reason);
  };
}
