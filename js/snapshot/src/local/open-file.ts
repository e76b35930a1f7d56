import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Windows has no such flag, and needs none. */
const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/** Opens a file for reading. A pipe is open at once, too, and does not wait for who writes to it. */
export function openFile(path: string): Promise<FileHandle> {
  return open(path, O_RDONLY | O_NONBLOCK);
}
