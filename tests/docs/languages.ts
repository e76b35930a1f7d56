/** Checks blocks that are not run with the parser or compiler of their language. */
import { spawnSync } from "node:child_process";

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
