/** Runs the cases on every engine, with the published package; docs/compatibility.md lists the engines. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostileResponses } from "../adapters/node/hostile-responses.js";
import type { Cases } from "../cases/case.js";
import { suites } from "../cases/index.js";
import { slim } from "../cases/slim.js";
import { PATIENCE, type Program, SUITE } from "./bundle.mjs";
import { engines, type Running } from "./engines.mjs";
import { runFile } from "./process/run.mjs";
import { DOCUMENT, tableOf, writtenTable } from "./table.mjs";
import { bundleWorker } from "./workerd/run.mjs";

const PACKAGE = join(SUITE, "node_modules", "hedgerow");

/** How all cases end where all are kept. */
function keptOf(suites: Readonly<Record<string, Cases<never>>>) {
  return Object.entries(suites).flatMap(([subject, cases]) =>
    Object.keys(cases).map((promise) => ({ subject, promise })),
  );
}

const KEPT: Readonly<Record<Program, ReturnType<typeof keptOf>>> = {
  cases: keptOf(suites),
  slim: keptOf({ slim }),
  responses: keptOf(hostileResponses),
};

for (const { name, pinned, command, start } of engines) {
  describe(name, { timeout: PATIENCE }, () => {
    let running: Running;

    beforeAll(async () => {
      running = await start();
    }, PATIENCE);

    afterAll(() => running?.close?.());

    test("is of the version that is pinned", () => {
      expect(running.version).toMatch(pinned ?? /^\d+(\.\d+)+$/);
    });

    test("keeps all cases", async () => {
      expect(await running.run("cases")).toEqual(KEPT.cases);
    });

    test("keeps all cases of the slim entry", async () => {
      expect(await running.run("slim")).toEqual(KEPT.slim);
    });

    if (name.startsWith("Node ")) {
      test("strips what its servers send, in every way that they have", async () => {
        expect(await running.run("responses")).toEqual(KEPT.responses);
      });
    }

    if (command === undefined) return;

    test("requires the package that it imports", async () => {
      expect(await runFile(command, join(SUITE, "process", "require.cjs"))).toEqual({
        matches: true,
        isSame: true,
        from: expect.stringContaining(join(PACKAGE, "dist")),
      });
    });
  });
}

describe("the package that engines are given", () => {
  test("is a copy of what is packed, and no link to the source tree", () => {
    expect(realpathSync(PACKAGE)).toBe(PACKAGE);
  });

  test("is all of Hedgerow that is in bundles", async () => {
    const { inputs } = await bundleWorker("cases");
    expect(inputs.filter((path) => path.startsWith("js/"))).toEqual([]);
    expect(inputs.filter((path) => path.includes("/hedgerow/dist/"))).not.toEqual([]);
  });

  test("has its WebAssembly as modules in a worker's bundle", async () => {
    const { files } = await bundleWorker("cases");
    expect(files.map(({ name }) => name).sort()).toEqual([
      "build_bg.wasm",
      "cases.js",
      "edge_bg.wasm",
    ]);
  });
});

describe(`the table in ${DOCUMENT}`, () => {
  test("names the engines, their versions and the number of cases", () => {
    const table = writtenTable();
    const cases = KEPT.cases.length + KEPT.slim.length;
    // Debian chooses the version of Chromium.
    const [, chromium = "none"] = /Chromium[^|]*\| (\d[^ ]*) \|/.exec(table) ?? [];
    const rows = engines.map(({ name, pinned: version = chromium, wasm }) => ({
      ...{ name, version, wasm, cases },
    }));
    // If this differs: `npm run runtimes`.
    expect(table).toBe(tableOf(rows));
  });
});
