// Counting instructions with callgrind.
//
// The counts are the same from run to run, but for a few instructions, and on every x86-64 machine with
// AVX2: Valgrind shows programs a processor of its own, an Intel Core of 2013, whatever it runs on. So
// code that looks for AVX-512, for another maker or for other caches takes the same path everywhere.
//
// It needs no crate. Gungraun counts by the same means, and is well kept; but its runner would be one more
// tool to build, and its baselines lie among what was built, where they cannot be committed as one file.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { capture, StepError } from "../lib/run.mjs";

/** The function in whose calls the work is done, one call a case. */
const COUNTED = "hedgerow_guard::counted";

/**
 * Runs the program, and counts the instructions of one operation of each of its cases.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {{ processor: string, counts: Record<string, number> }}
 */
export function countInstructions(program, args) {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-guard-"));
  try {
    const files = join(folder, "counts");
    const said = capture(
      "valgrind",
      [
        ...["--quiet", "--tool=callgrind", `--callgrind-out-file=${files}`],
        ...[`--zero-before=${COUNTED}`, `--dump-after=${COUNTED}`, program, ...args],
      ],
      { showErrors: true },
    );
    if (said === undefined) throw new StepError(`failed: ${program} in valgrind`);
    const [processor = "", ...cases] = said.trim().split("\n");
    return { processor, counts: Object.fromEntries(cases.map(readCase(files))) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads what was counted of a case, whose file has its number. @param {string} files */
const readCase = (files) => (/** @type {string} */ said, /** @type {number} */ index) => {
  const [operations, name = ""] = said.split("\t");
  const total = /^totals: (\d+)$/m.exec(readFileSync(`${files}.${index + 1}`, "utf8"))?.[1];
  const each = Number(total) / Number(operations);
  if (!(each > 0)) throw new StepError(`${name}: expected a count, found ${total}`);
  return [`${name}, instructions`, Math.round(each * 10) / 10];
};
