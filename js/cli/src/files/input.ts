/** Reads files that a user named, and standard input. */
import { createReadStream } from "node:fs";

import { CliError, messageOf, systemCode } from "../error.js";

/** The name that stands for standard input. */
export const STDIN = "-";

/** Opens a file, or standard input for `-`. Returns its content, and its name for errors. */
export function inputOf(file: string): { name: string; chunks: AsyncIterable<Uint8Array> } {
  if (file === STDIN) return { name: "standard input", chunks: process.stdin };
  return { name: file, chunks: createReadStream(file, { highWaterMark: 1 << 20 }) };
}

/** Longest accepted line: longer than any path, and a bound on memory. */
const MAX_LINE_LENGTH = 1 << 20;

/**
 * Yields the non-empty lines of a UTF-8 stream, without their line ends (LF or CR LF).
 *
 * @param name name of the stream in errors
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<string> {
  let rest = "";
  for await (const text of decode(chunks, name)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_LENGTH) {
      throw new CliError("ERR_SOURCE", `${name}: expected a line, found ${rest.length} characters`);
    }
    for (const line of lines) {
      const content = withoutReturn(line);
      if (content !== "") yield content;
    }
  }
  const content = withoutReturn(rest);
  if (content !== "") yield content;
}

const withoutReturn = (line: string) => (line.endsWith("\r") ? line.slice(0, -1) : line);

/** Decodes a UTF-8 stream and drops a byte order mark. */
export async function* decode(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const text = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      throw new CliError("ERR_SOURCE", `${name}: expected UTF-8: ${messageOf(error)}`);
    }
  };
  for await (const chunk of chunks) yield text(chunk);
  yield text();
}

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
