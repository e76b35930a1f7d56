import { readFile } from "node:fs/promises";

/** The modules of this package: one reads snapshots, one makes them. */
export type ModuleName = "decode" | "encode";

const compiled = new Map<ModuleName, WebAssembly.Module>();

/** Compiles a module, once. Workers are given what was compiled. */
export async function compiledModule(name: ModuleName): Promise<WebAssembly.Module> {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const bytes = await readFile(new URL(`../../wasm/${name}_bg.wasm`, import.meta.url));
  const module = await WebAssembly.compile(bytes);
  compiled.set(name, module);
  return module;
}
