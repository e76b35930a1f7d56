/**
 * The WebAssembly module that builds filters. It is instantiated when it is first used, so that
 * whoever only asks filters does not wait for it.
 */
import module from "wasm:build";

import { type InitOutput, initSync } from "../../wasm/build.js";
import { compile } from "../compile.js";

let instance: InitOutput | undefined;
let bytes = new Uint8Array(0);

/** Instantiates the module, unless that was done. To be called before anything else of it. */
export function instantiateBuild(): void {
  instance ??= initSync({ module: compile(module) });
}

/** All of the module's memory. A view dies when the memory grows. */
export function buildMemory(): Uint8Array<ArrayBuffer> {
  if (bytes.length === 0) bytes = new Uint8Array(instance!.memory.buffer as ArrayBuffer);
  return bytes;
}
