import { checkWritable, writeAtomically } from "../files/atomic-write.js";
import { print } from "../print.js";

const STDOUT = "-";

/** Throws if a filter cannot be written to `output`. */
export function checkOutput(output: string): void {
  if (output !== STDOUT) checkWritable(output);
}

/** Writes a filter to a file, or to standard output. */
export async function writeFilter(output: string, file: Uint8Array): Promise<void> {
  if (output === STDOUT) await print(file);
  else writeAtomically(output, file);
}

/** Prints text about the filter: on standard error if the filter is on standard output. */
export async function printAbout(output: string, text: string): Promise<void> {
  if (output === STDOUT) process.stderr.write(text);
  else await print(text);
}
