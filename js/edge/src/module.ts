/**
 * The WebAssembly module: one instance for all of this package.
 *
 * An entry instantiates it, each in the way its runtime allows; everything else gets its memory
 * here.
 */
import { type InitOutput, initSync } from "../wasm/edge.js";
import { compile } from "./compile.js";
import { HedgerowError } from "./error.js";

let instance: InitOutput | undefined;
let bytes = new Uint8Array(0);

/**
 * Instantiates `hedgerow/edge.wasm`, unless that was done. With `hedgerow/slim`, call it before
 * anything else, and where the module's own top level runs if the runtime compiles only there.
 *
 * @param module the compiled module, or its bytes, which are then compiled synchronously
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
  if (!REQUIRED.every((name) => names.includes(name))) {
    const found = names.slice(0, 5).join(", ") || "nothing";
    const message = `expected hedgerow/edge.wasm of this version, found a module that exports ${found}`;
    throw new HedgerowError("ERR_MODULE", message);
  }
  instance = initSync({ module: compiled });
}

/** What tells this module from others. */
const REQUIRED: readonly (keyof InitOutput)[] = ["memory", "ruleset_new", "filter_new"];

/**
 * Makes an object of the module.
 *
 * @throws {HedgerowError} `ERR_NOT_INSTANTIATED` before {@link instantiate}
 */
export function make<Made>(Kind: new () => Made): Made {
  if (instance === undefined) {
    const message = "WebAssembly is not instantiated: call instantiate() of hedgerow/slim first";
    throw new HedgerowError("ERR_NOT_INSTANTIATED", message);
  }
  return new Kind();
}

/**
 * All of the module's memory. A view dies when the memory grows, so ask for it again after every
 * call that may allocate.
 */
export function memory(): Uint8Array<ArrayBuffer> {
  if (bytes.length === 0) bytes = new Uint8Array(instance!.memory.buffer as ArrayBuffer);
  return bytes;
}

/** A part of a module's memory, whose view is made again whenever the memory has grown. */
export class MemoryView {
  #bytes = new Uint8Array(0);

  constructor(
    readonly start: number,
    readonly length: number,
    private readonly all: () => Uint8Array<ArrayBuffer> = memory,
  ) {}

  /** The bytes as they lie in memory now. A view dies, and is empty, when the memory grows. */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#bytes.length === 0) {
      this.#bytes = this.all().subarray(this.start, this.start + this.length);
    }
    return this.#bytes;
  }
}
