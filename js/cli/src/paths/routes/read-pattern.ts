import type { Json } from "../../files/json.js";

/** Reads an untrusted regular expression. Errors name its place. */
export function readPattern<T>(json: Json, read: (source: string) => T): T {
  const source = json.string();
  try {
    return read(source);
  } catch (error) {
    // A RangeError is a stack overflow from deeply nested groups.
    if (error instanceof SyntaxError || error instanceof RangeError) {
      throw json.error("a regular expression");
    }
    throw error;
  }
}
