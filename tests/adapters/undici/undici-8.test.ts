/** The interceptor with undici 8, which needs a newer Node: all of it runs there, as one program. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { inRoot, node24 } from "../../../scripts/lib/paths.mjs";
import { PROMISE } from "../../support/http/check.js";
import { undiciCases } from "./cases.js";

const FOLDER = inRoot("tests", "adapters", "undici", "8");

interface Report {
  outcomes: Record<string, string>;
  exchanges: string;
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
  const { stdout } = await promisify(execFile)(node24, [program]);
  report = JSON.parse(stdout);
}, 300_000);

test.for(Object.keys(undiciCases))("%s", (promise) => {
  expect(report.outcomes[promise]).toBe("kept");
});

test(PROMISE, () => {
  expect(report.exchanges).toBe("kept");
});
