/** Disks that the command serves and mounts. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

import { BIN, ended, start } from "./bin.js";

/** Starts a `hedgerow disk` command, and waits for its first output. */
export async function started(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = start(["disk", ...args], env);
  const end = ended(child);
  const [out] = await Promise.race([
    once(child.stdout, "data"),
    end.then(({ err }) => Promise.reject(new Error(err))),
  ]);
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return end;
  };
  return { child, out: String(out), stop };
}

/** Returns all mounts. */
export const mounts = () => readFileSync("/proc/self/mountinfo", "utf8");

/** Asserts that nothing is mounted, runs or lies around. */
export function expectUnmounted(root: string): void {
  expect(mounts()).not.toContain(root);
  expect(readdirSync(join(root, "tmp"))).toEqual([]);
  expect(execFileSync("losetup", ["--list"]).toString()).not.toContain(root);
  expect(processesOf(root)).toEqual([]);
}

/**
 * Returns the IDs of the processes with a path below a folder in their command line, but for `hedgerow` itself and the
 * shell that waits for an engine.
 */
export function processesOf(root: string): number[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      const isOwn = command.includes(BIN) || command.startsWith("sh\0-c");
      return command.includes(root) && !isOwn ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}
