/** Runs the cases on engines, with the published package; docs/compatibility.md lists them. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostileResponses } from "../adapters/node/hostile-responses.js";
import type { Cases } from "../cases/case.js";
import { suites } from "../cases/index.js";
import { slim } from "../cases/slim.js";
import { trials } from "../support/trials.js";
import { PROGRAM_TIMEOUT, type Program, SUITE } from "./bundle.mjs";
import { engines, type Running } from "./engines.mjs";
import { runFile } from "./process/run.mjs";
import { DOCUMENT, tableOf, writtenTable } from "./table.mjs";
import { bundleWorker } from "./workerd/run.mjs";

const PACKAGE = join(SUITE, "node_modules", "hedgerow");

/** Returns the outcomes if all cases pass. */
function passedOutcomes(suites: Readonly<Record<string, Cases<never>>>) {
  return Object.entries(suites).flatMap(([subject, cases]) =>
    Object.keys(cases).map((promise) => ({ subject, promise })),
  );
}

const PASSED: Readonly<Record<Program, ReturnType<typeof passedOutcomes>>> = {
  cases: passedOutcomes(suites),
  slim: passedOutcomes({ slim }),
  responses: passedOutcomes(hostileResponses),
};

/** The newest Node and the newest workerd, beside the oldest Node in `tests/node/cases.test.ts`. */
const FEW = [/^Node 26$/, /^workerd/].map(
  (pattern) => engines.find(({ name }) => pattern.test(name))!,
);
const others = engines.filter((engine) => !FEW.includes(engine));
const tested = [...FEW, ...others.slice(0, trials({ few: 0, all: others.length }))];

for (const { name, pinned, command, start } of tested) {
  describe(name, { timeout: PROGRAM_TIMEOUT }, () => {
    let running: Running;

    beforeAll(async () => {
      running = await start();
    }, PROGRAM_TIMEOUT);

    afterAll(() => running?.close?.());

    test("has the pinned version", () => {
      expect(running.version).toMatch(pinned ?? /^\d+(\.\d+)+$/);
    });

    test("passes all cases", async () => {
      expect(await running.run("cases")).toEqual(PASSED.cases);
    });

    test("passes all cases of the slim entry", async () => {
      expect(await running.run("slim")).toEqual(PASSED.slim);
    });

    if (name.startsWith("Node ")) {
      test("strips responses in every way in which its servers send them", async () => {
        expect(await running.run("responses")).toEqual(PASSED.responses);
      });
    }

    if (command === undefined) return;

    test("loads the same package by require and by import", async () => {
      expect(await runFile(command, join(SUITE, "process", "require.cjs"))).toEqual({
        matches: true,
        isSame: true,
        from: expect.stringContaining(join(PACKAGE, "dist")),
      });
    });
  });
}

describe("the package that engines load", () => {
  test("is a copy of the packed package, not a link to the source tree", () => {
    expect(realpathSync(PACKAGE)).toBe(PACKAGE);
  });

  test("is the only copy of Hedgerow in bundles", async () => {
    const { inputs } = await bundleWorker("cases");
    expect(inputs.filter((path) => path.startsWith("js/"))).toEqual([]);
    expect(inputs.filter((path) => path.includes("/hedgerow/dist/"))).not.toEqual([]);
  });

  test("keeps its WebAssembly as modules in a worker's bundle", async () => {
    const { files } = await bundleWorker("cases");
    expect(files.map(({ name }) => name).sort()).toEqual([
      "block_bg.wasm",
      "build_bg.wasm",
      "cases.js",
      "paths_bg.wasm",
    ]);
  });
});

describe(`the table in ${DOCUMENT}`, () => {
  test("names the engines, their versions and the number of cases", () => {
    const table = writtenTable();
    const cases = PASSED.cases.length + PASSED.slim.length;
    // Debian chooses the version of Chromium.
    const [, chromium = "none"] = /Chromium[^|]*\| (\d[^ ]*) \|/.exec(table) ?? [];
    const rows = engines.map(({ name, pinned: version = chromium, wasm }) => ({
      ...{ name, version, wasm, cases },
    }));
    // If this differs: `npm run runtimes`.
    expect(table).toBe(tableOf(rows));
  });
});
