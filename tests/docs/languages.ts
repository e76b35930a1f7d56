/** Blocks that are not run: their language's own parser or compiler reads them. */
import { spawnSync } from "node:child_process";

/** What reads a block from its standard input, and fails if it is wrong. */
const READERS: Record<string, readonly [string, ...string[]]> = {
  json: ["node", "-e", "JSON.parse(require('fs').readFileSync(0))"],
  toml: ["python3", "-c", "import sys, tomllib; tomllib.loads(sys.stdin.read())"],
  py: ["python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())"],
  lua: ["luajit", "-bl", "-"],
  c: ["clang", "-fsyntax-only", "-x", "c", "-"],
};

/** @throws an error with what the reader says, or if there is none for the language */
export function expectReadable(language: string, text: string): void {
  const reader = READERS[language];
  if (reader === undefined)
    throw new Error(`expected a language that is known, found "${language}"`);
  const [program, ...args] = reader;
  const { status, stderr, error } = spawnSync(program, args, { input: text, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
}
