/** The WebAssembly module that builds filters, instantiated on first use because most programs only query. */
import module from "wasm:build";

import { type InitOutput, initSync } from "../../wasm/build.js";
import { compile } from "../compile.js";

let instance: InitOutput | undefined;
let bytes = new Uint8Array(0);

/** Instantiates the module if needed. Call it before anything else of the module. */
export function instantiateBuild(): void {
  instance ??= initSync({ module: compile(module) });
}

/** Returns the module's whole memory. The view detaches when the memory grows. */
export function buildMemory(): Uint8Array<ArrayBuffer> {
  if (bytes.length === 0) bytes = new Uint8Array(instance!.memory.buffer as ArrayBuffer);
  return bytes;
}
