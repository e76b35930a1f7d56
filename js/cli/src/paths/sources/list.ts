import { createReadStream } from "node:fs";

import { linesOf } from "../../files/lines.js";
import { pathOf } from "../path-text.js";

/** File name that stands for standard input. */
export const STDIN = "-";

/** Yields one path or absolute URL per line; a line that ends in `/*` is a wildcard. */
export async function* list(file: string): AsyncGenerator<string> {
  const isStdin = file === STDIN;
  const chunks = isStdin ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 });
  for await (const line of linesOf(chunks, isStdin ? "standard input" : file)) yield pathOf(line);
}
