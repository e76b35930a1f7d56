// Counts instructions with Callgrind.
//
// Counts are reproducible to within a few instructions on any x86-64 machine with AVX2, because Valgrind emulates
// one processor (an Intel Core of 2013): code that detects AVX-512, vendors or caches takes the same path everywhere.
//
// Gungraun counts by the same means, but its runner is one more tool to build, and its baselines cannot be committed as
// one file.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { capture, output, StepError } from "../lib/run.mjs";

/** The measured function, called once per case. */
const COUNTED = "hedgerow_guard::counted";

/**
 * Runs the program and counts the instructions per operation of each case.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {{ processor: string, counts: Record<string, number> }}
 */
export function countInstructions(program, args) {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-guard-"));
  try {
    const files = join(folder, "counts");
    const printed = output("valgrind", [
      ...["--quiet", "--tool=callgrind", `--callgrind-out-file=${files}`],
      ...[`--zero-before=${COUNTED}`, `--dump-after=${COUNTED}`, program, ...args],
    ]);
    const [processor = "", ...cases] = printed.trim().split("\n");
    return { processor, counts: Object.fromEntries(cases.map(readCase(files))) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads the count of a case from the file with its number. @param {string} files */
const readCase = (files) => (/** @type {string} */ line, /** @type {number} */ index) => {
  const [operations, name = ""] = line.split("\t");
  const total = /^totals: (\d+)$/m.exec(readFileSync(`${files}.${index + 1}`, "utf8"))?.[1];
  const each = Number(total) / Number(operations);
  if (!(each > 0)) throw new StepError(`${name}: expected a count, found ${total}`);
  return [`${name}, instructions`, Math.round(each * 10) / 10];
};

/** Returns what determines the counts on this machine. @param {string} processor as programs see it in Valgrind */
export function machine(processor) {
  const firstLine = (/** @type {string} */ command, /** @type {string} */ argument) =>
    capture(command, [argument])?.split("\n")[0]?.trim() ?? "unknown";
  const rust = capture("rustc", ["--version", "--verbose"]) ?? "";
  const field = (/** @type {string} */ name) =>
    new RegExp(`^${name}: (.*)$`, "m").exec(rust)?.[1] ?? "unknown";
  return {
    Rust: field("release"),
    LLVM: field("LLVM version"),
    target: field("host"),
    processor,
    // cc compiles zstd natively, clang to WebAssembly.
    cc: firstLine("cc", "--version"),
    clang: firstLine("clang", "--version"),
    "C library": firstLine("getconf", "GNU_LIBC_VERSION"),
    Valgrind: firstLine("valgrind", "--version"),
  };
}
