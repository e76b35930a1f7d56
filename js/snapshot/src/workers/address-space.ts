import { readFileSync } from "node:fs";

/**
 * Returns how many bytes of address space the limit of the system (`ulimit -v`) leaves this process; `Infinity` without a
 * limit, and where the system does not say.
 */
export function addressSpaceLeft(): number {
  try {
    const of = (name: string) => readFileSync(`/proc/self/${name}`, "utf8");
    const [, limit] = /^Max address space +(\d+)/m.exec(of("limits")) ?? [];
    const [, used] = /^VmSize:\s+(\d+) kB/m.exec(of("status")) ?? [];
    return limit && used ? Number(limit) - Number(used) * 1024 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
