/** The types of all entries, checked in ES modules and CommonJS without `skipLibCheck`. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

import { packageFolder, project } from "./project.js";
import { type Command, NODE, run } from "./tool.js";

const COMPILERS = {
  "TypeScript 6": [...NODE, join(packageFolder("typescript"), "bin", "tsc")],
  "TypeScript 7": [...NODE, join(packageFolder("typescript7"), "bin", "tsc")],
} satisfies Record<string, Command>;

/** Type errors in Next.js itself, whose own apps skip these checks. */
const NEXT_ERRORS = /^[^(]*\/node_modules\/next\/|^ /;

/** Asserts that a compiler finds the types of all entries, and no error. */
export async function expectTypes(
  compiler: keyof typeof COMPILERS,
  resolution: "nodenext" | "bundler",
): Promise<void> {
  const folder = project("types");
  copyFileSync(join(folder, "subpaths.mts"), join(folder, "subpaths.cts"));
  const config = `tsconfig.${resolution}.json`;
  const args = ["--project", config, "--pretty", "false", "--listFiles"];
  const output = await run(folder, COMPILERS[compiler], ...args).catch(String);
  const lines = output.split("\n").filter((line) => line.includes("error TS"));
  expect(lines.filter((line) => !NEXT_ERRORS.test(line))).toEqual([]);
  expect(output).toContain(join(packageFolder("hedgerow"), "dist", "adapters", "next.d.ts"));
}
