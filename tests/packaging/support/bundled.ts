/** The packed package, bundled for Node and for browsers. The bundles have to strip headers and guard paths. */
import { cpSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

import { browserBundlers, nodeBundlers } from "./bundlers.js";
import { keptProject } from "./kept-build.js";
import { expectPage } from "./page.js";
import { emptyFolder, packageFolder } from "./project.js";
import { expectProtected } from "./protected.js";
import { NODE, serve } from "./tool.js";

/** Asserts that the server of the suite works when a bundler has bundled it for Node. */
export async function expectBundledServer(bundler: string): Promise<void> {
  const [name, output, bundle] = nodeBundlers.find(([name]) => name === bundler)!;
  const folder = await keptProject(`server by ${name}`, "server", (folder) =>
    bundle(folder, "server.js", output),
  );
  await expectProtected(await serve(folder, NODE, [output]));
}

/** Part of `build.wasm` in Base64. */
const build = readFileSync(join(packageFolder("hedgerow"), "wasm", "build_bg.wasm"));
const BUILDER_MARK = build.subarray(6_000, 6_060).toString("base64");

/** An error code that only the reader of filters contains. */
const READER_MARK = "ERR_FILTER_FORMAT";

/** Asserts that the page of the suite works in a browser when a bundler has bundled it. */
export async function expectBundledPage(bundler: string): Promise<void> {
  const folder = emptyFolder();
  cpSync(await pageBundle("page.js", bundler), folder, { recursive: true });
  const text = readFileSync(join(folder, "bundle.js"), "utf8");
  expect(text).toContain(BUILDER_MARK);
  expect(text).toContain(READER_MARK);
  rmSync(join(folder, "page.js"));
  renameSync(join(folder, "bundle.js"), join(folder, "page.js"));
  await expectPage(folder);
}

/** Asserts that the bundle of a page that only strips headers has no code for paths. */
export async function expectUnusedCodeLeftOut(bundler: string): Promise<void> {
  const folder = await pageBundle("headers.js", bundler);
  const text = readFileSync(join(folder, "bundle.js"), "utf8");
  expect(text).toContain("x-internal-*");
  expect(text).not.toContain(BUILDER_MARK);
  expect(text).not.toContain(READER_MARK);
}

/** Bundles a script of the page into `bundle.js`, or takes the bundle of a previous run. Returns its folder. */
function pageBundle(script: string, bundler: string): Promise<string> {
  const [name, bundle] = browserBundlers.find(([name]) => name === bundler)!;
  return keptProject(`${script} by ${name}`, "page", (folder) =>
    bundle(folder, script, "bundle.js"),
  );
}
