/** Checks that the suite finds faulty packages: each fault is injected into a copy, and a check has to fail. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { nodeBundlers } from "./support/bundlers.js";
import { redirected, topLevelAwait, without } from "./support/faults.js";
import { startFaultyApp } from "./support/next.js";
import { copyOf, emptyFolder, type Fault, project, TEST_TIMEOUT } from "./support/project.js";
import { expectProtected } from "./support/protected.js";
import { NODE, run, serve, tool } from "./support/tool.js";
import { expectWorker } from "./support/worker.js";

/** The checks of the other tests, where they pass. */
const CHECKS = {
  async publint(fault: Fault) {
    const folder = copyOf("hedgerow", emptyFolder());
    fault(folder);
    await run(folder, tool("publint"), "--strict", "--pack", "false");
  },
  import: async (fault: Fault) =>
    expectProtected(await serve(project("server", fault), NODE, ["server.js"])),
  require: async (fault: Fault) =>
    expectProtected(await serve(project("server", fault), NODE, ["server.cjs"])),
  async "esbuild, CommonJS"(fault: Fault) {
    const [, output, bundle] = nodeBundlers.find(([name]) => name === "esbuild, CommonJS")!;
    const folder = project("server", fault);
    await bundle(folder, "server.js", output);
    await expectProtected(await serve(folder, NODE, [output]));
  },
  Wrangler: (fault: Fault) => expectWorker({ fault }),
  "Next.js": async (fault: Fault) => expectProtected(await startFaultyApp("next-edge", fault)),
};

describe.each<
  [name: string, fault: Fault, detected: [check: keyof typeof CHECKS, message: RegExp][]]
>([
  [
    "a module that the tarball lacks",
    without(join("wasm", "paths_bg.wasm")),
    [
      ["publint", /paths_bg\.wasm/],
      ["Wrangler", /paths_bg\.wasm/],
    ],
  ],
  [
    "bytes for workerd, which compiles no WebAssembly",
    redirected("workerd", "default"),
    [["Wrangler", /CompiledWasm/]],
  ],
  [
    "a module for Node that it cannot import",
    redirected("default", "workerd"),
    [["import", /\.wasm/]],
  ],
  [
    "the module for workerd at the edge of Vercel",
    redirected("edge-light", "workerd"),
    [["Next.js", /paths_bg\.wasm/]],
  ],
  [
    "an entry with top-level await",
    topLevelAwait,
    [
      ["require", /ERR_REQUIRE_ASYNC_MODULE/],
      ["esbuild, CommonJS", /[Tt]op-level await/],
    ],
  ],
])("%s", { timeout: TEST_TIMEOUT }, (_name, fault, detected) => {
  test.for(detected)("detects the fault by %s", async ([check, message]) => {
    await expect(CHECKS[check](fault)).rejects.toThrow(message);
  });
});
