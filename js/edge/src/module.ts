/**
 * The WebAssembly module: one instance for all of this package.
 *
 * An entry instantiates it, each in the way its runtime allows; everything else gets its memory
 * here.
 */
import { type InitOutput, initSync } from "../wasm/edge.js";

let exports: InitOutput | undefined;
let bytes = new Uint8Array(0);

/** Instantiates the module. Called by an entry, before anything else is. */
export function instantiate(module: WebAssembly.Module | Uint8Array<ArrayBuffer>): void {
  exports ??= initSync({ module });
}

/**
 * All of the module's memory. A view dies when the memory grows, so ask for it again after every
 * call that may allocate.
 */
export function memory(): Uint8Array<ArrayBuffer> {
  if (bytes.length === 0) bytes = new Uint8Array(exports!.memory.buffer as ArrayBuffer);
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
