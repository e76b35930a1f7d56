/** Checks the types of a document's code with the compiler of this repository. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** Options of a typical project with a bundler. */
const OPTIONS = {
  target: "es2023",
  lib: ["es2023", "esnext.disposable", "dom"],
  module: "esnext",
  moduleResolution: "bundler",
  moduleDetection: "force",
  strict: true,
  allowJs: true,
  checkJs: true,
  jsx: "react-jsx",
  skipLibCheck: true,
  noEmit: true,
  types: ["node"],
  typeRoots: [inRoot("node_modules", "@types")],
};

/** JavaScript in documents has no annotations, and may import untyped modules. */
const OF_JAVASCRIPT = { noImplicitAny: false, useUnknownInCatchVariables: false };

/** Modules that the runtime of workers provides. */
const AMBIENT = inRoot("tests", "docs", "ambient.d.ts");

/** @param files relative to the folder */
export async function expectTypes(folder: string, files: readonly string[]): Promise<void> {
  const isTyped = (file: string) => /\.[cm]?tsx?$/.test(file);
  await compile(folder, OPTIONS, files.filter(isTyped));
  const untyped = files.filter((file) => !isTyped(file));
  await compile(folder, { ...OPTIONS, ...OF_JAVASCRIPT }, untyped);
}

async function compile(folder: string, compilerOptions: object, files: string[]): Promise<void> {
  if (files.length === 0) return;
  const config = join(folder, ".documents.tsconfig.json");
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [AMBIENT, ...files] }));
  const tsc = inRoot("node_modules", ".bin", "tsc");
  await promisify(execFile)(tsc, ["-p", config], { cwd: folder }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(stdout + stderr);
    },
  );
}
