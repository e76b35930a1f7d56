import { readdirSync, readlinkSync } from "node:fs";

/** Returns the files in a folder that this process has open. Those without a name end with ` (deleted)`. */
export function openFiles(folder: string): string[] {
  const open = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return open.filter((file) => file.startsWith(folder));
}
