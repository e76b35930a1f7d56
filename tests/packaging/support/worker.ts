/** The worker of the suite, bundled by Wrangler, with a path filter built by the command. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { expect, onTestFinished } from "vitest";

import { node24 } from "../../../scripts/lib/paths.mjs";
import { startModules } from "../../../scripts/lib/worker.mjs";
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

/**
 * Bundles the worker. Returns the modules that would be uploaded, the entry first.
 *
 * @param fault injected into the package that it uses
 */
export async function bundledWorker(fault?: Fault): Promise<Uploaded[]> {
  const folder = project("worker", fault);
  writeFileSync(join(folder, "paths.txt"), "/known\n");
  await run(folder, tool("hedgerow"), "paths", "build", "paths.txt", "-o", "paths.filter");
  const wrangler = join(packageFolder("wrangler"), "bin", "wrangler.js");
  await run(folder, [node24, wrangler], "deploy", "--dry-run", "--outdir", "out");
  const files = readdirSync(join(folder, "out")).flatMap((path) => {
    const type = KINDS[extname(path) as keyof typeof KINDS];
    const contents = new Uint8Array(readFileSync(join(folder, "out", path)));
    return type === undefined ? [] : [{ type, path, contents }];
  });
  return files.sort((a, b) => b.type.localeCompare(a.type));
}

/**
 * Asserts that the worker strips headers and guards paths, with a single, precompiled WebAssembly module.
 *
 * @param fault injected into the package that it uses
 */
export async function expectWorker(fault?: Fault): Promise<void> {
  const modules = await bundledWorker(fault);
  expect(modules.map(({ type }) => type)).toEqual(["ESModule", "Data", "CompiledWasm"]);
  const { worker, url } = await startModules(modules);
  onTestFinished(() => worker.dispose());
  await expectProtected(url);
}
