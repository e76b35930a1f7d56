import { readFile } from "node:fs/promises";

/** The modules of this package: one reads snapshots, one makes them. */
export type ModuleName = "decode" | "encode";

const compiled = new Map<ModuleName, Promise<WebAssembly.Module>>();

/** Compiles a module, once. Workers are given what was compiled. */
export function compiledModule(name: ModuleName): Promise<WebAssembly.Module> {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const module = compile(name);
  compiled.set(name, module);
  // Whatever was in the way may be gone the next time.
  module.catch(() => compiled.delete(name));
  return module;
}

async function compile(name: ModuleName): Promise<WebAssembly.Module> {
  const bytes = await readFile(new URL(`../../wasm/${name}_bg.wasm`, import.meta.url));
  return WebAssembly.compile(bytes);
}
