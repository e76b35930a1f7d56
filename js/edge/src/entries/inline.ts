/** For every runtime that compiles WebAssembly from bytes: they come with the code. */
import bytes from "../../wasm/edge-bytes.js";
import { instantiate } from "../module.js";

instantiate(bytes);

export * from "../index.js";
