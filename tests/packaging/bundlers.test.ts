/** The packed package, bundled for Node and for browsers. The bundles have to strip headers and guard paths. */
import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { browserBundlers, nodeBundlers } from "./support/bundlers.js";
import { expectPage } from "./support/page.js";
import { packageFolder, project, TEST_TIMEOUT } from "./support/project.js";
import { expectProtected } from "./support/protected.js";
import { NODE, run, serve, tool } from "./support/tool.js";

describe("the packed package", { timeout: TEST_TIMEOUT }, () => {
  test.for(nodeBundlers)("works when bundled for Node by %s", async ([, output, bundle]) => {
    const folder = project("server");
    await bundle(folder, "server.js", output);
    await expectProtected(await serve(folder, NODE, [output]));
  });
});

/** Part of `build.wasm` in Base64. */
const build = readFileSync(join(packageFolder("hedgerow"), "wasm", "build_bg.wasm"));
const BUILDER_MARK = build.subarray(6_000, 6_060).toString("base64");

/** An error code that only the reader of filters contains. */
const READER_MARK = "ERR_FILTER_FORMAT";

describe("in browsers, the packed package", { timeout: TEST_TIMEOUT }, () => {
  test.for(browserBundlers)("works when bundled for browsers by %s", async ([, bundle]) => {
    const folder = project("page");
    await bundle(folder, "page.js", "bundle.js");
    const text = readFileSync(join(folder, "bundle.js"), "utf8");
    expect(text).toContain(BUILDER_MARK);
    expect(text).toContain(READER_MARK);
    rmSync(join(folder, "page.js"));
    renameSync(join(folder, "bundle.js"), join(folder, "page.js"));
    await expectPage(folder);
  });

  test.for(browserBundlers)("leaves out unused code when bundled by %s", async ([, bundle]) => {
    const folder = project("page");
    await bundle(folder, "headers.js", "bundle.js");
    const text = readFileSync(join(folder, "bundle.js"), "utf8");
    expect(text).toContain("x-internal-*");
    expect(text).not.toContain(BUILDER_MARK);
    expect(text).not.toContain(READER_MARK);
  });

  test("works when bundled by Vite", async () => {
    const folder = project("page");
    await run(folder, tool("vite"), "build");
    await expectPage(join(folder, "dist"));
  });
});
