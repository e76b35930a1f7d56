/** `hedgerow/slim`: for runtimes that load the WebAssembly modules themselves. */
import { blockModule } from "../block/strip-block.js";
import { HedgerowError, isOptions, wrongType } from "../error.js";
import { pathsModule } from "../paths/filter-file.js";

export { stripBlock } from "../block/strip-block.js";
export * from "./requests.js";

/** The modules of `hedgerow/slim`: compiled, or as bytes, which are compiled synchronously. */
export interface Modules {
  /** `hedgerow/paths.wasm`, for `PathFilter`. */
  paths?: WebAssembly.Module | BufferSource;
  /** `hedgerow/block.wasm`, for `stripBlock`. */
  block?: WebAssembly.Module | BufferSource;
}

/**
 * Instantiates the WebAssembly modules that you use of `hedgerow/slim`. Call it before you use filters or `stripBlock`,
 * at the top level of your module if the runtime compiles WebAssembly only there. A module that is already instantiated
 * stays unchanged.
 *
 * @throws {HedgerowError} `ERR_MODULE` if a module is not the one of that name and of this version;
 * `ERR_ARGUMENT` if `modules` is not an object with at least one of them, and no others
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { instantiate, PathFilter } from "hedgerow/slim";
 *
 * instantiate({ paths: readFileSync(new URL(import.meta.resolve("hedgerow/paths.wasm"))) });
 * const line = '{"version":"1","bloom":{"n":0,"p":0.01,"m":6,"k":1,"s":0}}';
 * PathFilter.parse(`${line}\n"A"`).has("/"); // false
 * ```
 */
export function instantiate(modules: Modules): void {
  const all = { paths: pathsModule, block: blockModule };
  if (!isOptions(modules)) throw wrongType("{ paths, block }", modules);
  const given = Object.entries(modules);
  const isKnown = given.length > 0 && given.every(([name]) => Object.hasOwn(all, name));
  if (!isKnown) {
    const found = given.map(([name]) => name).join(", ") || "none";
    const message = `instantiate: expected the modules paths or block, found ${found}`;
    throw new HedgerowError("ERR_ARGUMENT", message);
  }
  for (const [name, source] of given) all[name as keyof Modules].instantiate(source);
}
