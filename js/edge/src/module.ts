/**
 * The instance of `edge.wasm` that the whole package shares. Each entry instantiates it in the way its
 * runtime allows; all other code reaches its memory from here.
 */
import { type InitOutput, initSync } from "../wasm/edge.js";
import { compile } from "./compile.js";
import { HedgerowError } from "./error.js";

let instance: InitOutput | undefined;
let bytes = new Uint8Array(0);

/**
 * Instantiates `hedgerow/edge.wasm`. Call it once before anything else of `hedgerow/slim`; further calls
 * do nothing. Call it at the top level of your module if the runtime compiles WebAssembly only there.
 *
 * @param module the compiled module, or its bytes, which are compiled synchronously
 * @throws {HedgerowError} `ERR_MODULE` if it is not the module of this version
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { HeaderStripper, instantiate } from "hedgerow/slim";
 *
 * instantiate(readFileSync(new URL(import.meta.resolve("hedgerow/edge.wasm"))));
 * new HeaderStripper(["x-internal-*"]).matches("x-internal-user"); // true
 * ```
 */
export function instantiate(module: WebAssembly.Module | BufferSource): void {
  if (instance !== undefined) return;
  const compiled = compile(module);
  const names = WebAssembly.Module.exports(compiled).map(({ name }) => name);
  if (!REQUIRED_EXPORTS.every((name) => names.includes(name))) {
    const found = names.slice(0, 5).join(", ") || "nothing";
    const message = `expected hedgerow/edge.wasm of this version, found a module that exports ${found}`;
    throw new HedgerowError("ERR_MODULE", message);
  }
  instance = initSync({ module: compiled });
}

/** Exports that distinguish `edge.wasm` from other modules. */
const REQUIRED_EXPORTS: readonly (keyof InitOutput)[] = ["memory", "ruleset_new", "filter_new"];

/**
 * Creates an object of the module.
 *
 * @throws {HedgerowError} `ERR_NOT_INSTANTIATED` before {@link instantiate}
 */
export function create<Created>(Class: new () => Created): Created {
  if (instance === undefined) {
    const message = "WebAssembly is not instantiated: call instantiate() of hedgerow/slim first";
    throw new HedgerowError("ERR_NOT_INSTANTIATED", message);
  }
  return new Class();
}

/**
 * Returns the module's whole memory. The view detaches when the memory grows, so call this again after
 * every call that may allocate.
 */
export function memory(): Uint8Array<ArrayBuffer> {
  if (bytes.length === 0) bytes = new Uint8Array(instance!.memory.buffer as ArrayBuffer);
  return bytes;
}

/** A range of a module's memory, whose view is recreated after the memory has grown. */
export class MemoryView {
  #bytes = new Uint8Array(0);

  constructor(
    readonly start: number,
    readonly length: number,
    private readonly memoryOf: () => Uint8Array<ArrayBuffer> = memory,
  ) {}

  /** The current bytes. Do not keep the view: growing memory detaches it, and it is then empty. */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#bytes.length === 0) {
      this.#bytes = this.memoryOf().subarray(this.start, this.start + this.length);
    }
    return this.#bytes;
  }
}
