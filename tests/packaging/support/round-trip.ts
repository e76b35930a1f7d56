/** Snapshots by the packed package, which has to find its workers and WebAssembly, bundled or not. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";

import { nodeBundlers } from "./bundlers.js";
import { keptProject } from "./kept-build.js";
import { NODE, run } from "./tool.js";

/** Asserts that a script creates a snapshot and restores it. */
export async function expectRoundTrip(folder: string, script: string): Promise<void> {
  const images = join(folder, "images");
  mkdirSync(images);
  const output = await run(folder, NODE, script, images);
  expect(JSON.parse(output)).toEqual({ isSame: true, size: 2 ** 22 });
}

/** Asserts the same of a script that a bundler for Node has bundled, in a folder without packages. */
export async function expectBundledRoundTrip(bundler: string): Promise<void> {
  const [name, output, bundle] = nodeBundlers.find(([name]) => name === bundler)!;
  const folder = await keptProject(`snapshot by ${name}`, "snapshot", (folder) =>
    bundle(folder, "round-trip.js", output),
  );
  const other = isolatedFolder();
  // webpack writes several files.
  cpSync(folder, other, { recursive: true });
  await expectRoundTrip(other, output);
}

/** Creates a folder from which no package can be resolved. */
function isolatedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-packaging-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
