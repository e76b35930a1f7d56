/** The interceptor with undici 8. It needs a newer Node, where all cases run as one program. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { inRoot, node24 } from "../../../scripts/lib/paths.mjs";
import { LIMIT, TITLE } from "../../support/http/check.js";
import { DRY_RUN_LIMIT, DRY_RUN_TITLE } from "../../support/http/check-dry-run.js";
import { undiciCases } from "./cases.js";

const FOLDER = inRoot("tests", "adapters", "undici", "8");

interface Report {
  results: Record<string, string>;
  exchanges: string;
  dryRuns: string;
}

let report: Report;

beforeAll(async () => {
  for (const needed of [node24, `${FOLDER}/node_modules/undici`]) {
    if (!existsSync(needed)) throw new Error(`${needed} is missing: npm test installs it`);
  }
  // In the folder of undici 8, so that the import resolves to it.
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
  const { stdout } = await promisify(execFile)(node24, [program]);
  report = JSON.parse(stdout);
}, LIMIT.timeout + DRY_RUN_LIMIT.timeout);

test.for(Object.keys(undiciCases))("%s", (title) => {
  expect(report.results[title]).toBe("passed");
});

test(TITLE, () => {
  expect(report.exchanges).toBe("passed");
});

test(DRY_RUN_TITLE, () => {
  expect(report.dryRuns).toBe("passed");
});
