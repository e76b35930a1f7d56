// The regression guard: `npm run guard -- [--accept | --seed-slow-down]`.
//
// Timings are unreliable on shared machines, so the guard counts instructions of the hot native paths and bytes of
// the WebAssembly modules. Valgrind emulates one processor (an Intel Core of 2013), so the counts are reproducible to
// within a few instructions on any x86-64 machine with AVX2. Any difference from the record fails: an unrecorded gain would hide the next loss.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { build } from "./build.mjs";
import { accepted, differences, explain } from "./guard/compare.mjs";
import { installPrograms } from "./lib/debian.mjs";
import { printTable } from "./lib/measured.mjs";
import { inRoot } from "./lib/paths.mjs";
import { capture, main, output, run, StepError, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/** @typedef {import("./guard/compare.mjs").Figures} Figures */
/** @typedef {{ machine: Record<string, string>, figures: Figures }} GuardRecord */

const RECORD = inRoot("bench", "guard", "record.json");

const PROGRAM = inRoot("target", "release", "hedgerow-guard");

/** The measured function, called once per case. */
const COUNTED = "hedgerow_guard::counted";

/** The WebAssembly modules. tests/packaging checks the sizes of bundles. */
const MODULES = {
  "paths.wasm": "js/edge/wasm/paths_bg.wasm",
  "block.wasm": "js/edge/wasm/block_bg.wasm",
  "build.wasm": "js/edge/wasm/build_bg.wasm",
  "decode.wasm": "js/snapshot/wasm/decode_bg.wasm",
  "encode.wasm": "js/snapshot/wasm/encode_bg.wasm",
};

await main(async () => {
  const { values } = parseArgs({
    options: { accept: { type: "boolean" }, "seed-slow-down": { type: "boolean" } },
  });
  if (values.accept && values["seed-slow-down"]) {
    throw new StepError("pass --accept or --seed-slow-down, not both");
  }
  await setup();
  installPrograms("guard");
  build();
  step("building the hot native paths");
  run("cargo", ["build", "--quiet", "--release", "--package", "hedgerow-guard"]);
  if (values.accept) accept();
  else check(values["seed-slow-down"] ?? false);
});

/**
 * Compares with the record, then proves that a loss would be found.
 *
 * @param {boolean} slowed whether to slow every path down
 */
function check(slowed) {
  const { figures, machine } = measured(slowed);
  const record = readRecord();
  const found = differences(record.figures, figures);
  if (found.length > 0) throw new StepError(explain(found, record.machine, machine));
  printTable(Object.entries(figures));
  step("counting again with every path slowed, which the guard must find");
  proveThatItCanFail(figures);
  step("the guard passed");
}

/** Counts all paths again, each slowed down. @param {Figures} figures the present figures */
function proveThatItCanFail(figures) {
  const { counts } = countInstructions(PROGRAM, ["--slow"]);
  const found = differences(figures, { ...figures, ...counts });
  const worse = new Set(found.filter(({ verdict }) => verdict === "worse").map(({ name }) => name));
  const missed = Object.keys(counts).filter((name) => !worse.has(name));
  if (missed.length > 0) throw new StepError(`slowed down but not found: ${missed.join("; ")}`);
}

/** Records the present figures. */
function accept() {
  const { figures, machine } = measured(false);
  const record = { machine, figures: accepted(readRecord().figures, figures) };
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
  step("accepted: bench/guard/record.json");
}

/** @param {boolean} slowed */
function measured(slowed) {
  step("counting instructions");
  const { counts, processor } = countInstructions(PROGRAM, slowed ? ["--slow"] : []);
  return { figures: { ...counts, ...moduleSizes() }, machine: machineWith(processor) };
}

/** @returns {GuardRecord} */
function readRecord() {
  return JSON.parse(readFileSync(RECORD, "utf8"));
}

/** Returns the size of every module, raw and compressed. @returns {Record<string, number>} */
function moduleSizes() {
  const sizes = Object.entries(MODULES).flatMap(([name, file]) => {
    const bytes = readFileSync(inRoot(file));
    return [
      [`${name}, bytes`, bytes.length],
      [`${name}, bytes compressed`, gzipSync(bytes, { level: 9 }).length],
    ];
  });
  return Object.fromEntries(sizes);
}

/**
 * Runs the program and counts the instructions per operation of each case.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {{ processor: string, counts: Record<string, number> }}
 */
function countInstructions(program, args) {
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
function readCase(files) {
  return (/** @type {string} */ line, /** @type {number} */ index) => {
    const [operations, name = ""] = line.split("\t");
    const total = /^totals: (\d+)$/m.exec(readFileSync(`${files}.${index + 1}`, "utf8"))?.[1];
    const each = Number(total) / Number(operations);
    if (!(each > 0)) throw new StepError(`${name}: expected a count, found ${total}`);
    return [`${name}, instructions`, Math.round(each * 10) / 10];
  };
}

/** Returns what determines the counts on this machine. @param {string} processor as programs see it in Valgrind */
function machineWith(processor) {
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
