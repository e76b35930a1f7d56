import { HedgerowError } from "hedgerow";

import { named } from "../files/expecting.js";

/** Returns the result of reading a filter. Errors name the file. */
export async function readingFilter<T>(file: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw namedFilter(error, file);
  }
}

/** Adds to an error which filter it is about. Returns the error. */
export function namedFilter(error: unknown, file: string): unknown {
  if (error instanceof HedgerowError) error.message = `${file}: ${error.message}`;
  return named(error, file, "a path filter");
}
