/** The packed package, bundled for Node and for browsers, where it then does the job. */
import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { forBrowsers, forNode } from "./support/bundlers.js";
import { expectJob } from "./support/job.js";
import { expectPage } from "./support/page.js";
import { PATIENCE, packageFolder, project } from "./support/project.js";
import { NODE, run, serve, tool } from "./support/tool.js";

describe("for Node", { timeout: PATIENCE }, () => {
  test.for(forNode)("%s", async ([, output, bundle]) => {
    const folder = project("server");
    await bundle(folder, "server.js", output);
    await expectJob(await serve(folder, NODE, output));
  });
});

/** Some of the bytes of `build.wasm`, as they are in Base64. */
const build = readFileSync(join(packageFolder("hedgerow"), "wasm", "build_bg.wasm"));
const OF_BUILDING = build.subarray(6_000, 6_060).toString("base64");

/** What only code that reads filters says. */
const OF_PATHS = "ERR_FILTER_FORMAT";

describe("for browsers", { timeout: PATIENCE }, () => {
  test.for(forBrowsers)("%s", async ([, bundle]) => {
    const folder = project("page");
    await bundle(folder, "page.js", "bundle.js");
    const text = readFileSync(join(folder, "bundle.js"), "utf8");
    expect(text).toContain(OF_BUILDING);
    expect(text).toContain(OF_PATHS);
    rmSync(join(folder, "page.js"));
    renameSync(join(folder, "bundle.js"), join(folder, "page.js"));
    await expectPage(folder);
  });

  test.for(forBrowsers)("%s leaves out what is not used", async ([, bundle]) => {
    const folder = project("page");
    await bundle(folder, "headers.js", "bundle.js");
    const text = readFileSync(join(folder, "bundle.js"), "utf8");
    expect(text).toContain("x-internal-*");
    expect(text).not.toContain(OF_BUILDING);
    expect(text).not.toContain(OF_PATHS);
  });

  test("Vite", async () => {
    const folder = project("page");
    await run(folder, tool("vite"), "build");
    await expectPage(join(folder, "dist"));
  });
});
