/** The interceptor with undici 8, which needs a newer Node: all of it runs there, as one program. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { inRoot, node24 } from "../../../scripts/lib/paths.mjs";
import { SEED } from "../../support/http/check.js";
import { undiciCases } from "./cases.js";

const FOLDER = inRoot("tests", "adapters", "undici", "8");

interface Report {
  outcomes: Record<string, string>;
  exchanges: string;
  tally: { exchanges: number; stripped: number; kept: number };
}

let report: Report;

beforeAll(async () => {
  for (const needed of [node24, `${FOLDER}/node_modules/undici`]) {
    if (!existsSync(needed)) throw new Error(`${needed} is missing: npm test installs it`);
  }
  // Beside undici 8, so that it is the one that is found.
  const program = `${FOLDER}/node_modules/.hedgerow/main.mjs`;
  await build({
    entryPoints: [`${FOLDER}/main.ts`],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    packages: "external",
    logLevel: "warning",
  });
  const { stdout } = await promisify(execFile)(node24, [program, "10000"]);
  report = JSON.parse(stdout);
}, 300_000);

test.for(Object.keys(undiciCases))("%s", (promise) => {
  expect(report.outcomes[promise]).toBe("kept");
});

test(`10,000 random exchanges lose what the rules match, and nothing else (seed ${SEED})`, () => {
  expect(report.exchanges).toBe("kept");
  expect(report.tally.exchanges).toBe(10_000);
  expect(Math.min(report.tally.stripped, report.tally.kept)).toBeGreaterThan(10_000);
});
