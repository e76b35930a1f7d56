/** That the suite finds what can be wrong with a package: each fault is made once, and its check fails. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { forNode } from "./support/bundlers.js";
import { mistaken, waiting, without } from "./support/faults.js";
import { expectJob } from "./support/job.js";
import { startedApp } from "./support/next.js";
import { copyOf, emptyFolder, type Fault, PATIENCE, project } from "./support/project.js";
import { NODE, run, serve, tool } from "./support/tool.js";
import { expectWorker } from "./support/worker.js";

/** What the other tests do with a package; there, where nothing is wrong, nothing is found. */
const CHECKS = {
  async publint(fault: Fault) {
    const folder = copyOf("hedgerow", emptyFolder());
    fault(folder);
    await run(folder, tool("publint"), "--strict", "--pack", "false");
  },
  import: async (fault: Fault) =>
    expectJob(await serve(project("server", fault), NODE, "server.js")),
  require: async (fault: Fault) =>
    expectJob(await serve(project("server", fault), NODE, "server.cjs")),
  async "esbuild, CommonJS"(fault: Fault) {
    const [, output, bundle] = forNode.find(([name]) => name === "esbuild, CommonJS")!;
    const folder = project("server", fault);
    await bundle(folder, "server.js", output);
    await expectJob(await serve(folder, NODE, output));
  },
  Wrangler: expectWorker,
  "Next.js": async (fault: Fault) => expectJob(await startedApp("next-edge", [], undefined, fault)),
};

describe.each<[name: string, fault: Fault, found: [check: keyof typeof CHECKS, as: RegExp][]]>([
  [
    "a module that the tarball lacks",
    without(join("wasm", "edge_bg.wasm")),
    [
      ["publint", /edge_bg\.wasm/],
      ["Wrangler", /edge_bg\.wasm/],
    ],
  ],
  [
    "bytes for workerd, which compiles none",
    mistaken("workerd", "default"),
    [["Wrangler", /CompiledWasm/]],
  ],
  ["a file for Node that it cannot import", mistaken("default", "workerd"), [["import", /\.wasm/]]],
  [
    "at the edge of Vercel, what is for workerd",
    mistaken("edge-light", "workerd"),
    [["Next.js", /edge_bg\.wasm/]],
  ],
  [
    "an entry that waits",
    waiting,
    [
      ["require", /ERR_REQUIRE_ASYNC_MODULE/],
      ["esbuild, CommonJS", /[Tt]op-level await/],
    ],
  ],
])("%s", { timeout: PATIENCE }, (_name, fault, found) => {
  test.for(found)("is found by %s", async ([check, as]) => {
    await expect(CHECKS[check](fault)).rejects.toThrow(as);
  });
});
