import { HedgerowError } from "hedgerow";

/** Returns the result of reading a filter. Errors about its format name the file. */
export async function readingFilter<T>(file: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HedgerowError) error.message = `${file}: ${error.message}`;
    throw error;
  }
}
