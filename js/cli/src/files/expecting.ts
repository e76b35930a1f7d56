import { systemCode } from "../error.js";

/**
 * Returns the result of reading a file that the user named. An error of the system, such as `ENOENT`, then says what the
 * file should be.
 *
 * @param what what the file should be, such as "a path filter"
 */
export async function expecting<T>(
  file: string,
  what: string,
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw named(error, file, what);
  }
}

/** Adds to an error of the system which file it is about, and what that should be. Returns the error. */
export function named(error: unknown, file: string, what: string): unknown {
  if (error instanceof Error && systemCode(error) !== undefined)
    error.message = `${file}: expected ${what}: ${error.message}`;
  return error;
}
