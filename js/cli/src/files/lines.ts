import { CliError, messageOf } from "../error.js";

/** No path is so long, and a file without line ends shall not fill the memory. */
const MAX_LINE_LENGTH = 1 << 20;

/**
 * The lines of a stream of UTF-8, without what ends them (LF or CR LF), and without empty ones.
 *
 * @param name what the stream is called in errors
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

/** The text of a stream of UTF-8, without a byte order mark. */
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
