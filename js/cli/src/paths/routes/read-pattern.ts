import type { Json } from "../../files/json.js";

/** Reads a regular expression that others wrote, and says where one is that cannot be read. */
export function readPattern<T>(json: Json, read: (source: string) => T): T {
  const source = json.string();
  try {
    return read(source);
  } catch (error) {
    // A range error: groups are nested so deeply that the stack ends.
    if (error instanceof SyntaxError || error instanceof RangeError) {
      throw json.error("a regular expression");
    }
    throw error;
  }
}
