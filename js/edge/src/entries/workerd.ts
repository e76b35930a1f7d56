/** For workerd and Wrangler, where an import of a `.wasm` file is a `WebAssembly.Module`. */
import module from "../../wasm/edge_bg.wasm";
import { instantiate } from "../module.js";

instantiate(module);

export * from "../index.js";
