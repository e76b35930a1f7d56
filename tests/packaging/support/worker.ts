/** The worker of the suite, bundled by Wrangler, with a path filter built by the command. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { expect, onTestFinished } from "vitest";

import { node24 } from "../../../scripts/lib/paths.mjs";
import { startModules } from "../../../scripts/lib/worker.mjs";
import { keptProject } from "./kept-build.js";
import { type Fault, packageFolder, project } from "./project.js";
import { expectProtected } from "./protected.js";
import { run, tool } from "./tool.js";

/** The types of modules that Wrangler uploads, by file extension. */
const KINDS = { ".js": "ESModule", ".wasm": "CompiledWasm", ".filter": "Data" } as const;

export interface Uploaded {
  readonly type: (typeof KINDS)[keyof typeof KINDS];
  readonly path: string;
  readonly contents: Uint8Array<ArrayBuffer>;
}

/** A bundle that is kept between runs under a name, or one with a fault in the package that it uses. */
type Bundled = { readonly name: string } | { readonly fault: Fault };

/** Bundles the worker, or takes the bundle of a previous run. Returns the modules to upload, the entry first. */
export async function bundledWorker(bundled: Bundled): Promise<Uploaded[]> {
  if ("name" in bundled) return modulesOf(await keptProject(bundled.name, "worker", bundle));
  const folder = project("worker", bundled.fault);
  await bundle(folder);
  return modulesOf(folder);
}

async function bundle(folder: string): Promise<void> {
  writeFileSync(join(folder, "paths.txt"), "/known\n");
  await run(folder, tool("hedgerow"), "paths", "build", "paths.txt", "-o", "paths.filter");
  const wrangler = join(packageFolder("wrangler"), "bin", "wrangler.js");
  await run(folder, [node24, wrangler], "deploy", "--dry-run", "--outdir", "out");
}

function modulesOf(folder: string): Uploaded[] {
  const files = readdirSync(join(folder, "out")).flatMap((path) => {
    const type = KINDS[extname(path) as keyof typeof KINDS];
    const contents = new Uint8Array(readFileSync(join(folder, "out", path)));
    return type === undefined ? [] : [{ type, path, contents }];
  });
  return files.sort((a, b) => b.type.localeCompare(a.type));
}

/** Asserts that the worker strips headers and guards paths, with one precompiled WebAssembly module. */
export async function expectWorker(bundled: Bundled): Promise<void> {
  const modules = await bundledWorker(bundled);
  const types = modules.map(({ type }) => type).join(", ");
  expect(types).toBe("ESModule, Data, CompiledWasm");
  const { worker, url } = await startModules(modules);
  onTestFinished(() => worker.dispose());
  await expectProtected(url);
}
