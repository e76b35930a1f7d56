/**
 * The WebAssembly module that builds filters. It is instantiated when it is first used, so that
 * whoever only asks filters does not wait for it.
 */
import module from "#build-wasm";
import { type InitOutput, initSync } from "../../wasm/build.js";

let exports: InitOutput | undefined;
let bytes = new Uint8Array(0);

/** Instantiates the module, unless that was done. To be called before anything else of it. */
export function instantiateBuild(): void {
  exports ??= initSync({ module });
}

/** All of the module's memory. A view dies when the memory grows. */
export function buildMemory(): Uint8Array<ArrayBuffer> {
  if (bytes.length === 0) bytes = new Uint8Array(exports!.memory.buffer as ArrayBuffer);
  return bytes;
}
