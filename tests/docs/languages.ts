/** Checks blocks by their language: with a parser or compiler, and Rust as documentation tests. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { attempt } from "../../scripts/lib/run.mjs";

/** Commands that read a block from standard input, and fail if it is invalid. */
const READERS: Record<string, readonly [string, ...string[]]> = {
  json: ["node", "-e", "JSON.parse(require('fs').readFileSync(0))"],
  toml: ["python3", "-c", "import sys, tomllib; tomllib.loads(sys.stdin.read())"],
  py: ["python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())"],
  lua: ["luajit", "-bl", "-"],
  c: ["clang", "-fsyntax-only", "-x", "c", "-"],
};

/** @throws an error with the parser's message, or if the language has no parser */
export function expectReadable(language: string, text: string): void {
  const reader = READERS[language];
  if (reader === undefined) throw new Error(`expected a known language, found "${language}"`);
  const [program, ...args] = reader;
  const { status, stderr, error } = spawnSync(program, args, { input: text, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
}

const SHARED_CRATE = "hedgerow-tests-docs";
const SHARED_FOLDER = "tests/docs/rust";

export function expectDocumentationTest(document: string): void {
  if (document.startsWith("crates/")) {
    expectIncluded(`${dirname(document)}/src/lib.rs`, "../README.md");
    return;
  }
  expectIncluded(`${SHARED_FOLDER}/src/lib.rs`, `../../../../${document}`);
  const args = ["test", "--quiet", "--doc", "--package", SHARED_CRATE];
  const { status, output, errors } = attempt("cargo", args, { stdout: "pipe" });
  if (status !== 0) throw new Error(`cargo ${args.join(" ")}\n${output}${errors}`);
}

function expectIncluded(source: string, path: string): void {
  const included = `doc = include_str!("${path}")`;
  if (!readFileSync(inRoot(source), "utf8").includes(included)) {
    throw new Error(`${source}: expected ${included}`);
  }
}
