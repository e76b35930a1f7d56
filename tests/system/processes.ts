/** Resources of processes, read from `/proc`: open files, child processes and memory. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Retries until files that close asynchronously are closed, and milliseconds between two of them. */
const [RETRIES, RETRY_INTERVAL] = [400, 25];

/** Returns what a process has open, sorted: the paths of files, and `socket` or `pipe` for others. */
export function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const files = readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(`${folder}/${fd}`).replace(/^(socket|pipe):.*/, "$1")];
    } catch {
      // It was closed in the meantime.
      return [];
    }
  });
  // Listing the folder of this process opens it.
  return files.filter((file) => file !== folder && file !== "/proc/self/fd").sort();
}

/** Returns the running child processes of a process, recursively. */
export function descendants(pid: number): { readonly pid: number; readonly name: string }[] {
  const all = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The name is in parentheses and may contain parentheses. The state and the parent follow.
      const [, command, parent] = /\((.*)\) \S (\d+)/.exec(
        readFileSync(`/proc/${name}/stat`, "utf8"),
      )!;
      return [{ pid: Number(name), name: command!, parent: Number(parent) }];
    } catch {
      return [];
    }
  });
  const childrenOf = (of: number): { pid: number; name: string }[] =>
    all
      .filter(({ parent }) => parent === of)
      .flatMap((child) => [{ pid: child.pid, name: child.name }, ...childrenOf(child.pid)]);
  return childrenOf(pid);
}

/** Returns the resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const [, kibibytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  if (kibibytes === undefined) throw new Error(`process ${pid} has no resident memory`);
  return Number(kibibytes) * 1024;
}

/** Waits until a process has only those files open that it had before. Throws after ten seconds. */
export async function expectNothingOpened(pid: number, before: readonly string[]): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const added = without(openFiles(pid), before);
    if (added.length === 0) return;
    if (attempt === RETRIES) {
      throw new Error(`process ${pid} left files open: ${added.join(", ")}`);
    }
    await sleep(RETRY_INTERVAL);
  }
}

/** Returns the items of a list without those of another, counting duplicates. */
function without(all: readonly string[], known: readonly string[]): string[] {
  const rest = [...all];
  for (const one of known) {
    const at = rest.indexOf(one);
    if (at >= 0) rest.splice(at, 1);
  }
  return rest;
}
