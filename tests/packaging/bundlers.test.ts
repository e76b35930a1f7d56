/** The packed package, bundled for Node and for browsers. The bundles have to strip headers and guard paths. */
import { cpSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { type Bundler, browserBundlers, nodeBundlers } from "./support/bundlers.js";
import { keptProject } from "./support/kept-build.js";
import { expectPage } from "./support/page.js";
import { emptyFolder, packageFolder, TEST_TIMEOUT } from "./support/project.js";
import { expectProtected } from "./support/protected.js";
import { NODE, run, serve, tool } from "./support/tool.js";

describe("the packed package", { timeout: TEST_TIMEOUT }, () => {
  test.for(nodeBundlers)("works when bundled for Node by %s", async ([name, output, bundle]) => {
    const folder = await keptProject(`server by ${name}`, "server", (folder) =>
      bundle(folder, "server.js", output),
    );
    await expectProtected(await serve(folder, NODE, [output]));
  });
});

/** Bundles a script of the page into `bundle.js`, or takes the bundle of a previous run. Returns its folder. */
const pageBundle = (script: string, name: string, bundle: Bundler) =>
  keptProject(`${script} by ${name}`, "page", (folder) => bundle(folder, script, "bundle.js"));

/** Part of `build.wasm` in Base64. */
const build = readFileSync(join(packageFolder("hedgerow"), "wasm", "build_bg.wasm"));
const BUILDER_MARK = build.subarray(6_000, 6_060).toString("base64");

/** An error code that only the reader of filters contains. */
const READER_MARK = "ERR_FILTER_FORMAT";

describe("in browsers, the packed package", { timeout: TEST_TIMEOUT }, () => {
  test.for(browserBundlers)("works when bundled for browsers by %s", async ([name, bundle]) => {
    const folder = emptyFolder();
    cpSync(await pageBundle("page.js", name, bundle), folder, { recursive: true });
    const text = readFileSync(join(folder, "bundle.js"), "utf8");
    expect(text).toContain(BUILDER_MARK);
    expect(text).toContain(READER_MARK);
    rmSync(join(folder, "page.js"));
    renameSync(join(folder, "bundle.js"), join(folder, "page.js"));
    await expectPage(folder);
  });

  test.for(browserBundlers)("leaves out unused code when bundled by %s", async ([name, bundle]) => {
    const folder = await pageBundle("headers.js", name, bundle);
    const text = readFileSync(join(folder, "bundle.js"), "utf8");
    expect(text).toContain("x-internal-*");
    expect(text).not.toContain(BUILDER_MARK);
    expect(text).not.toContain(READER_MARK);
  });

  test("works when bundled by Vite", async () => {
    const folder = await keptProject("page by Vite", "page", (folder) =>
      run(folder, tool("vite"), "build"),
    );
    await expectPage(join(folder, "dist"));
  });
});
