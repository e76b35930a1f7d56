/** The packed package, bundled by the bundlers that take longer than esbuild. */
import { join } from "node:path";
import { describe, test } from "vitest";
import {
  expectBundledPage,
  expectBundledServer,
  expectPage,
  expectUnusedCodeLeftOut,
} from "./support/bundlers.js";
import { keptProject } from "./support/kept-build.js";
import { TEST_TIMEOUT } from "./support/project.js";
import { run, tool } from "./support/tool.js";

describe.each(["webpack", "Rollup"])("%s", { timeout: TEST_TIMEOUT }, (bundler) => {
  test("bundles the package for Node", () => expectBundledServer(bundler));

  test("bundles the package for browsers", () => expectBundledPage(bundler));

  test("leaves out unused code", () => expectUnusedCodeLeftOut(bundler));
});

test("works when bundled by Vite", { timeout: TEST_TIMEOUT }, async () => {
  const folder = await keptProject("page by Vite", "page", (folder) =>
    run(folder, tool("vite"), "build"),
  );
  await expectPage(join(folder, "dist"));
});
