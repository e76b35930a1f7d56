// Describes the tools that instruction counts depend on besides the code.
import { capture } from "../lib/run.mjs";

/** @param {string} processor as programs see it in Valgrind */
export function machine(processor) {
  const rust = capture("rustc", ["--version", "--verbose"]) ?? "";
  const field = (/** @type {string} */ name) =>
    new RegExp(`^${name}: (.*)$`, "m").exec(rust)?.[1] ?? "unknown";
  return {
    Rust: field("release"),
    LLVM: field("LLVM version"),
    target: field("host"),
    processor,
    // cc compiles zstd natively, clang to WebAssembly.
    cc: firstLine("cc", ["--version"]),
    clang: firstLine("clang", ["--version"]),
    "C library": firstLine("getconf", ["GNU_LIBC_VERSION"]),
    Valgrind: firstLine("valgrind", ["--version"]),
  };
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function firstLine(command, args) {
  return capture(command, args)?.split("\n")[0]?.trim() ?? "unknown";
}
