/** Reads the files of a cache. Trusts neither their type nor their content: anything may have changed them. */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { undefinedIfMissing } from "../../local/atomic-write.js";
import { isUnfit } from "../../local/private-file.js";

/** Windows lacks the last two flags, but a cache needs Linux anyway. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Opens for reading without following a link or blocking on a pipe. */
export const READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** The number of bytes read of a small file. */
const SMALL_LENGTH = 2 ** 16;

/** What is at a path: a regular file, something that cannot be read as one, or nothing. */
type Opened<T> =
  | { readonly kind: "file"; readonly content: T }
  | { readonly kind: "unfit" | "missing" };

/** Opens a path, and reads it with `read` if it is a regular file. */
async function readRegularFile<T>(
  path: string,
  read: (file: FileHandle, found: Stats) => Promise<T>,
): Promise<Opened<T>> {
  const file = await undefinedIfMissing(open(path, READ_FLAGS)).catch((error: unknown) => {
    if (isUnfit(error)) return "unfit" as const;
    throw error;
  });
  if (file === undefined) return { kind: "missing" };
  if (file === "unfit") return { kind: "unfit" };
  try {
    const found = await file.stat();
    if (!found.isFile()) return { kind: "unfit" };
    return { kind: "file", content: await read(file, found) };
  } finally {
    await file.close();
  }
}

/**
 * Returns the first 64 KiB of a file as text, "" for anything but a regular file, and undefined if there is
 * nothing at the path.
 */
export async function readSmallFile(path: string): Promise<string | undefined> {
  const opened = await readRegularFile(path, async (file) => {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(SMALL_LENGTH), 0, SMALL_LENGTH, 0);
    return buffer.toString("utf8", 0, bytesRead);
  });
  if (opened.kind === "file") return opened.content;
  return opened.kind === "unfit" ? "" : undefined;
}

/** Returns all of a regular file, or undefined if there is none or it is longer than `maxLength`. */
export async function readWholeFile(path: string, maxLength: number): Promise<Buffer | undefined> {
  const opened = await readRegularFile(path, async (file, { size }) =>
    size <= maxLength ? file.readFile() : undefined,
  );
  return opened.kind === "file" ? opened.content : undefined;
}

/** A regular file, as it was when it was opened. */
export interface FoundFile {
  readonly size: number;
  /** When it was written, in milliseconds since 1970. */
  readonly modified: number;
  /** All of it, unless it is too long. */
  readonly bytes: Buffer | undefined;
}

/** Returns a regular file, with its bytes if they are at most `maxLength`, or undefined if there is none. */
export async function readFoundFile(
  path: string,
  maxLength: number,
): Promise<FoundFile | undefined> {
  const opened = await readRegularFile(path, async (file, { size, mtimeMs }) => ({
    ...{ size, modified: mtimeMs },
    bytes: size <= maxLength ? await file.readFile() : undefined,
  }));
  return opened.kind === "file" ? opened.content : undefined;
}
