/** The types of all entries, checked in ES modules and CommonJS without `skipLibCheck`. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { packageFolder, project, TEST_TIMEOUT } from "./support/project.js";
import { type Command, NODE, run } from "./support/tool.js";

const COMPILERS = {
  "TypeScript 6": [...NODE, join(packageFolder("typescript"), "bin", "tsc")],
  "TypeScript 7": [...NODE, join(packageFolder("typescript7"), "bin", "tsc")],
} satisfies Record<string, Command>;

/** Type errors in Next.js itself, whose own apps skip these checks. */
const NEXT_ERRORS = /^[^(]*\/node_modules\/next\/|^ /;

test.for([
  ["TypeScript 6", "nodenext"],
  ["TypeScript 7", "nodenext"],
  ["TypeScript 7", "bundler"],
] as const)(
  "type-checks all entries with %s and module resolution %s",
  { timeout: TEST_TIMEOUT },
  async ([name, resolution]) => {
    const folder = project("types");
    copyFileSync(join(folder, "subpaths.mts"), join(folder, "subpaths.cts"));
    const config = `tsconfig.${resolution}.json`;
    const args = ["--project", config, "--pretty", "false", "--listFiles"];
    const output = await run(folder, COMPILERS[name], ...args).catch(String);
    const lines = output.split("\n").filter((line) => line.includes("error TS"));
    expect(lines.filter((line) => !NEXT_ERRORS.test(line))).toEqual([]);
    expect(output).toContain(join(packageFolder("hedgerow"), "dist", "adapters", "next.d.ts"));
  },
);
