/** Instantiates the WebAssembly module that the runtime at hand imports: see `imports` of this package. */
import module from "#edge-wasm";
import { instantiate } from "../module.js";

instantiate(module);
