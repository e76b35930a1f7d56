/** The modules of this package: one reads snapshots, one makes them. */
export type ModuleName = "decode" | "encode";

/** Where the bytes are: in code, so that they come along when that is bundled. */
const BYTES = {
  decode: () => import("./decode-module.js"),
  encode: () => import("./encode-module.js"),
};

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
  const { default: base64 } = await BYTES[name]();
  return WebAssembly.compile(Buffer.from(base64, "base64"));
}
