/** Snapshots by the packed package, which has to find its workers and WebAssembly, bundled or not. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { nodeBundlers } from "./support/bundlers.js";
import { keptProject } from "./support/kept-build.js";
import { project, TEST_TIMEOUT } from "./support/project.js";
import { NODE, run } from "./support/tool.js";

/** Asserts that a script creates a snapshot and restores it. */
async function expectRoundTrip(folder: string, script: string): Promise<void> {
  const images = join(folder, "images");
  mkdirSync(images);
  const output = await run(folder, NODE, script, images);
  expect(JSON.parse(output)).toEqual({ isSame: true, size: 2 ** 22 });
}

test("creates and restores snapshots from node_modules", { timeout: TEST_TIMEOUT }, () =>
  expectRoundTrip(project("snapshot"), "round-trip.js"),
);

/** Creates a folder from which no package can be resolved. */
function isolatedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-packaging-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test.for(nodeBundlers.filter(([name]) => name !== "Rollup"))(
  "creates and restores snapshots without node_modules when bundled by %s",
  {
    timeout: TEST_TIMEOUT,
  },
  async ([name, output, bundle]) => {
    const folder = await keptProject(`snapshot by ${name}`, "snapshot", (folder) =>
      bundle(folder, "round-trip.js", output),
    );
    const other = isolatedFolder();
    // webpack writes several files.
    cpSync(folder, other, { recursive: true });
    await expectRoundTrip(other, output);
  },
);
