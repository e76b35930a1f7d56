/** Faults, injected into copies of a package. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeBundlers } from "./bundlers.js";
import { startFaultyApp } from "./next.js";
import { copyOf, emptyFolder, type Fault, project } from "./project.js";
import { expectProtected } from "./protected.js";
import { NODE, run, serve, tool } from "./tool.js";
import { expectWorker } from "./worker.js";

/** The file for each condition. */
type Targets = Record<string, string | undefined>;

interface Manifest {
  readonly imports: Record<string, Targets>;
  readonly exports: Record<string, Targets | string>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** Removes a file. */
export const without =
  (path: string): Fault =>
  (folder) =>
    rmSync(join(folder, path));

/** Adds a top-level await to the main entry. */
export const topLevelAwait: Fault = (folder) => {
  const entry = manifestOf(folder).exports["."];
  const file = typeof entry === "object" ? entry.default : entry;
  appendFileSync(join(folder, file ?? ""), "\nawait undefined;\n");
};

/** Makes a condition resolve to the file of another one. */
export const redirected =
  (condition: string, other: string): Fault =>
  (folder) => {
    const manifest = manifestOf(folder);
    const all = [...Object.values(manifest.imports), ...Object.values(manifest.exports)];
    const both = all.filter(
      (targets): targets is Targets =>
        typeof targets === "object" && condition in targets && other in targets,
    );
    if (both.length === 0) throw new Error(`no entry has the conditions ${condition} and ${other}`);
    for (const targets of both) targets[condition] = targets[other];
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  };

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
