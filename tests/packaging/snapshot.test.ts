/** Snapshots from the packed package: its threads and its WebAssembly are found, bundled or not. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { forNode } from "./support/bundlers.js";
import { PATIENCE, project } from "./support/project.js";
import { NODE, run } from "./support/tool.js";

/** Asserts that a script makes and restores images. */
async function expectRoundTrip(folder: string, script: string): Promise<void> {
  const images = join(folder, "images");
  mkdirSync(images);
  const said = await run(folder, NODE, script, images);
  expect(JSON.parse(said)).toEqual({ isSame: true, size: 2 ** 22 });
}

test("from node_modules", { timeout: PATIENCE }, () =>
  expectRoundTrip(project("snapshot"), "round-trip.js"),
);

/** Somewhere where no package is found. */
function elsewhere(): string {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-packaging-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test.for(forNode.filter(([name]) => name !== "Rollup"))(
  "bundled, without node_modules: %s",
  {
    timeout: PATIENCE,
  },
  async ([, output, bundle]) => {
    const [folder, other] = [project("snapshot"), elsewhere()];
    await bundle(folder, "round-trip.js", output);
    // webpack makes more files than one.
    cpSync(folder, other, { recursive: true });
    await expectRoundTrip(other, output);
  },
);
