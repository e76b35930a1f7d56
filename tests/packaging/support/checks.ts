/** The checks of the suite's tests, each of a package with a fault. */
import { nodeBundlers } from "./bundlers.js";
import { startFaultyApp } from "./next.js";
import { copyOf, emptyFolder, type Fault, project } from "./project.js";
import { expectProtected } from "./protected.js";
import { NODE, run, serve, tool } from "./tool.js";
import { expectWorker } from "./worker.js";

/** The checks of the other tests, where they pass. */
export const CHECKS = {
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
