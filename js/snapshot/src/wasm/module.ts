/** The WebAssembly modules: `decode` reads snapshots, `encode` creates them. */
export type ModuleName = "decode" | "encode";

/** The bytes of the modules, in JavaScript, so that bundlers include them. */
const BYTES = {
  decode: () => import("./decode-module.js"),
  encode: () => import("./encode-module.js"),
};

const compiled = new Map<ModuleName, Promise<WebAssembly.Module>>();

/** Compiles a module on first use. Workers receive the compiled module. */
export function compiledModule(name: ModuleName): Promise<WebAssembly.Module> {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const module = compile(name);
  compiled.set(name, module);
  // Do not cache a failure: memory may be free again at the next call.
  module.catch(() => compiled.delete(name));
  return module;
}

async function compile(name: ModuleName): Promise<WebAssembly.Module> {
  const { default: base64 } = await BYTES[name]();
  return WebAssembly.compile(Buffer.from(base64, "base64"));
}
