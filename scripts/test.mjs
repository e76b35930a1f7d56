// Runs the tests of every change: `npm test [-- --slow]`, where `--slow` lists the slowest files. `npm run verify` runs
// the others.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { inRoot } from "./lib/paths.mjs";
import { capture, listFiles, main, output, run, runTogether, step } from "./lib/run.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";

/** The crates with each feature set. `npm run verify -- crates` runs their WebAssembly in Wasmtime. */
const RUST_TESTS = {
  "all features": ["--all-features"],
  "default features": ["-p", "hedgerow-headers"],
  "no features": ["-p", "hedgerow-headers", "--no-default-features"],
};

/** The commits of the last hours before the newest one count as one change, like files that are not committed. */
const CHANGE_HOURS = 4;

await main(async () => {
  const { slow } = parseArgs({ options: { slow: { type: "boolean" } } }).values;
  await setUpTests();
  /** @type {[command: string, args: string[]][]} */
  const rust = Object.values(RUST_TESTS).map((args) => ["cargo", ["test", "--quiet", ...args]]);
  step(`Rust: ${Object.keys(RUST_TESTS).join(", ")}`);
  for (const [command, args] of rust) run(command, [...args, "--no-run"]);
  const documents = [...new Set(["README.md", ...changedDocuments()])];
  step(`Rust, JavaScript, the readers of path filters, and the code in ${documents.join(", ")}`);
  await runTogether(
    [...rust, ["vitest", ["run", "--project", "tests", "--project", "documents"]]],
    {
      // `npm run verify` tries all 256, of other seeds.
      PROPTEST_CASES: "32",
      PROPTEST_RNG_SEED: "1",
      HEDGEROW_DOCUMENTS: documents.join(" "),
      ...(slow && { HEDGEROW_SLOW: "1" }),
    },
  );
  step("all tests passed");
});

/** Returns the documents with code that the change touches; all of them if the history is missing. */
function changedDocuments() {
  const newest = Number(output("git", ["log", "-1", "--format=%ct"]));
  const before = `--before=${newest - CHANGE_HOURS * 3600}`;
  const base = output("git", ["rev-list", "-1", before, "HEAD"]).trim();
  if (base === "") return listFiles("*.md");
  return listFiles("*.md").filter((path) => {
    const then = capture("git", ["show", `${base}:${path}`]) ?? "";
    return codeIn(then) !== codeIn(readFileSync(inRoot(path), "utf8"));
  });
}

/** Returns the fenced blocks of a document. @param {string} text */
function codeIn(text) {
  return (text.match(/^( *)```.*?^\1```$/gms) ?? []).join("\n");
}
