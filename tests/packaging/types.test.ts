/** The types of all entries, as modules and CommonJS see them, with nothing of them taken on trust. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { PATIENCE, packageFolder, project } from "./support/project.js";
import { type Command, NODE, run } from "./support/tool.js";

const COMPILERS = {
  "TypeScript 6": [...NODE, join(packageFolder("typescript"), "bin", "tsc")],
  "TypeScript 7": [...NODE, join(packageFolder("typescript7"), "bin", "tsc")],
} satisfies Record<string, Command>;

/** What is wrong with types of Next.js alone, which it has its own apps not look at. */
const OF_NEXT = /^[^(]*\/node_modules\/next\/|^ /;

test.for([
  ["TypeScript 6", "nodenext"],
  ["TypeScript 7", "nodenext"],
  ["TypeScript 7", "bundler"],
] as const)("%s, %s", { timeout: PATIENCE }, async ([name, resolution]) => {
  const folder = project("types");
  copyFileSync(join(folder, "subpaths.mts"), join(folder, "subpaths.cts"));
  const config = `tsconfig.${resolution}.json`;
  const args = ["--project", config, "--pretty", "false", "--listFiles"];
  const said = await run(folder, COMPILERS[name], ...args).catch(String);
  const lines = said.split("\n").filter((line) => line.includes("error TS"));
  expect(lines.filter((line) => !OF_NEXT.test(line))).toEqual([]);
  expect(said).toContain(join(packageFolder("hedgerow"), "dist", "adapters", "next.d.ts"));
});
