/** What processes have: files that are open, other processes, memory. The system tells it, of any process. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How often it is looked again whether something has gone that goes by itself. */
const [LOOKS, BETWEEN] = [400, 25];

/** What a process has open, in order: paths of files, and kinds of all else. */
export function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const files = readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(`${folder}/${fd}`).replace(/^(socket|pipe):.*/, "$1")];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
  // The folder itself is open while this process looks at itself.
  return files.filter((file) => file !== folder && file !== "/proc/self/fd").sort();
}

/** The processes that a process has started and that did not end, with those that they have started. */
export function descendants(pid: number): { readonly pid: number; readonly name: string }[] {
  const all = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The name is in parentheses, and may have some itself; then come the state and the parent.
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

/** The memory that a process has, in bytes. */
export function residentBytes(pid: number): number {
  const [, kibibytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  if (kibibytes === undefined) throw new Error(`expected memory of process ${pid}, found none`);
  return Number(kibibytes) * 1024;
}

/** Waits until a process has nothing open but what it had, and throws if that takes ten seconds. */
export async function expectNothingOpened(pid: number, before: readonly string[]): Promise<void> {
  for (let look = 0; ; look += 1) {
    const added = without(openFiles(pid), before);
    if (added.length === 0) return;
    if (look === LOOKS) {
      throw new Error(
        `process ${pid}: expected nothing open but what was, found ${added.join(", ")}`,
      );
    }
    await sleep(BETWEEN);
  }
}

/** What is in a list more often than in another. */
function without(all: readonly string[], known: readonly string[]): string[] {
  const left = [...all];
  for (const one of known) {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
